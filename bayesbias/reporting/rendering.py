"""A page from its template: every word escaped, one style sheet, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bayesbias.comparison import signed
from bayesbias.diagnostics.intervals import share

HERE = Path(__file__).parent


def rendered(template: str, content: Mapping[str, Any]) -> str:
    """The text of a page."""
    css = (HERE / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=signed, share=share)
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return environment.get_template(template).render(css=Markup(css), policy=policy, **content)
