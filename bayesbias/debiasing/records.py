"""``Debiasing``: what a debiasing method did to an embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias._core.cosine import FloatArray


@dataclass(frozen=True)
class Debiasing:
    """What a debiasing method did.

    Attributes
    ----------
    method
        Its name.
    subspace
        Orthonormal directions (k, dimensions) that were removed or lowered; (0, dimensions) where there are none.
    explained
        Share of the variance of the defining sets along each of their principal directions, the strongest first.
    sets
        The defining sets that were used, with all their words.
    neutralized
        How many words lost their part along the subspace.
    equalized
        The sets that were made to differ along the subspace only.
    trace
        A number a step: objective (``soft``) or cross-validated accuracy of finding the group (``null_space``).
    options
        As used.
    notes
        Sentences on sets that were dropped and words that were not found.
    source, doi
        Where the method is defined.
    """

    method: str
    subspace: FloatArray
    explained: FloatArray = field(default_factory=lambda: np.empty(0))
    sets: tuple[tuple[str, ...], ...] = ()
    neutralized: int = 0
    equalized: tuple[tuple[str, ...], ...] = ()
    trace: FloatArray = field(default_factory=lambda: np.empty(0))
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = ""
    doi: str = ""

    def __str__(self) -> str:
        shares = ", ".join(f"{share:.0%}" for share in self.explained[: len(self.subspace)])
        parts = [f"{self.method}: {self.neutralized:,} words changed"]
        if len(self.subspace):
            explaining = f", which hold {shares} of the variance of {len(self.sets)} sets" if shares else ""
            several = "s" if len(self.subspace) > 1 else ""
            parts.append(f"{len(self.subspace)} direction{several}{explaining}")
        if self.equalized:
            parts.append(f"{len(self.equalized)} sets equalised")
        return ". ".join(["; ".join(parts), *(note.rstrip(".") for note in self.notes)]) + "."
