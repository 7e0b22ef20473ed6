"""Check a built site: every internal link leads somewhere, and no page loads anything from elsewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}
MET_BY_READERS_ONLY = {"canonical", "alternate", "license"}


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to or loads."""
        given = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}
        for key in ("href", "src"):
            value = given.get(key)
            if not value or value.startswith(("data:", "mailto:", "javascript:")):
                continue
            elsewhere = value.startswith("//") or "://" in value
            if (tag, key) in LOADS and elsewhere and given.get("rel") not in MET_BY_READERS_ONLY:
                self.loads.append(value)
            elif not elsewhere:
                self.links.append(value)


def main(folder: Path) -> int:
    """Print faults; the number of them."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    faults = [f"{path}: loads {one}" for path, page in pages.items() for one in page.loads]
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link.partition("?")[0] if "#" not in link else link)
            place = (path.parent / unquote(target)).resolve() if target else path
            known = place in pages and (not anchor or unquote(anchor) in pages[place].anchors)
            if not known and (place in pages or not place.is_file()):
                faults.append(f"{path}: broken link {link}")
    print("\n".join(faults) if faults else f"{len(pages)} pages, no broken link, nothing loaded from elsewhere")
    return len(faults)


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1]))))
