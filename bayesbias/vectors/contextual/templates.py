"""Templates: sentences with a place for a word, by part of speech, and the parts of speech of English words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self
from unicodedata import normalize

from pydantic import AfterValidator, BeforeValidator, model_validator

from bayesbias._support import shipped
from bayesbias._support.arguments import one_of
from bayesbias._support.files import Document, check, checked, frozen, home_folder, read_toml
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import PARTS_OF_SPEECH, Grammar, Name, Text, WordLists, subtag

if TYPE_CHECKING:
    pass

KINDS = PARTS_OF_SPEECH
ANY = "any"
PLACE = re.compile(r"\{a?\}")
ENGLISH = "english.toml"
AN = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
# words whose first sound is not that of their first letter
A = re.compile(r"(?:uni(?!n|m)|use|usu|eu|one|once|ufo|uk)", re.IGNORECASE)


def _template_text(wording: str) -> str:
    if len(PLACE.findall(wording)) != 1 or {"{", "}"} & set(PLACE.sub("", wording)):
        raise InputError(
            f"the template {shown(wording)} lacks its place: write {{}} once, or {{a}} for the word with its article, "
            "and no other braces"
        )
    return _composed(wording)


def _composed(text: str) -> str:
    return normalize("NFC", text)


type TemplateName = Annotated[Name, AfterValidator(_composed)]
type TemplateText = Annotated[Name, AfterValidator(_template_text)]
type Kind = Annotated[Text, AfterValidator(lambda name: one_of(name, (*KINDS, ANY), "a part of speech"))]


@frozen
class Template:
    """One template.

    Attributes
    ----------
    name
        What it is called in tables.
    texts
        Part of speech (one of :data:`KINDS`, or ``"any"``) to a text in which ``{}`` stands for the word, or ``{a}``
        for the word with *a* or *an*.
    """

    name: TemplateName
    texts: Mapping[Kind, TemplateText]

    def filled(self, word: str, kind: str | None) -> tuple[str, int, int] | None:
        """The sentence with the word in it and the word's first and last place, or None where the word does not suit.

        A sentence, which ends in a full stop, begins with a capital.
        """
        wording = self.texts.get(kind or ANY, self.texts.get(ANY))
        if wording is None:
            return None
        with_article = "{a}" in wording
        start, _, rest = wording.partition("{a}" if with_article else "{}")
        before = start + (f"{article(word)} " if with_article else "")
        sentence = before + word + rest
        if wording.endswith("."):
            sentence = sentence[0].upper() + sentence[1:]
        return sentence, len(before), len(before) + len(word)


def article(word: str) -> str:
    """*a* or *an*, by the first sound of a word as its letters tell it."""
    vowel = word[:1].lower() in tuple("aeiou") and not A.match(word)
    return "an" if vowel or AN.match(word) else "a"


def _template_of_file(template: object) -> object:
    """The name and the texts of a template, which stand side by side in a file."""
    if not isinstance(template, Mapping) or "name" not in template:
        return template
    return {"name": template["name"], "texts": {kind: text for kind, text in template.items() if kind != "name"}}


type TemplateOrTable = Annotated[Template, BeforeValidator(_template_of_file)]


@frozen
class Templates:
    """A set of templates.

    Attributes
    ----------
    name, description, source, doi
        What the set is and where it comes from.
    templates
        The templates, each with a name of its own.
    """

    name: Name
    templates: tuple[TemplateOrTable, ...]
    description: Text = ""
    source: Text = ""
    doi: Text | None = None

    @model_validator(mode="after")
    def _check_templates(self) -> Self:
        names = [template.name for template in self.templates]
        if len(set(names)) < len(names) or not names:
            raise InputError(f"the templates {self.name!r} need names of their own, one at least: {listed(names)}")
        return self

    def __len__(self) -> int:
        return len(self.templates)


class _EnglishFile(Document):
    description: str = ""
    kinds: Grammar
    vocabulary: Grammar


def load_templates(given: str | Path | Templates | Iterable[str]) -> Templates:
    """Sentence templates, by bundled name, from a TOML file, or as sentences.

    Parameters
    ----------
    given
        ``"bare"`` (the word alone), ``"seat"``, ``"mention"``; the path of a TOML file with ``name`` and tables
        ``[[templates]]``, each with ``name`` and a text for ``any`` or for parts of speech; or several of these names
        and sentences with ``{}``, such as ``["seat", "mention", "I like {}."]``.

    Examples
    --------
    >>> templates = bb.contextual.load_templates(["bare", "I like {}."])
    >>> [template.name for template in templates.templates]
    ['bare', 'I like {}.']
    """
    if isinstance(given, Templates):
        return given
    if isinstance(given, str | Path):
        return _read(given)
    parts = list(given)
    templates: list[Template] = []
    for part in parts:
        single = isinstance(part, str) and part not in bundled_templates() and not part.endswith(".toml")
        templates += (Template(str(part), {ANY: _template_text(str(part))}),) if single else _read(part).templates
    return Templates(
        " and ".join(map(str, parts)) if len(parts) < 4 else f"{len(templates)} templates", tuple(templates)
    )


def _read(name_or_path: str | Path) -> Templates:
    bundled = bundled_templates()
    path = bundled.get(str(name_or_path)) or home_folder(name_or_path)
    if not path.is_file():
        raise InputError(
            f"there are no templates {str(name_or_path)!r}: valid are {', '.join(bundled)}, a TOML file, or a list of "
            "sentences, such as ['{}']"
        )
    return check(Templates, read_toml(path), str(path))


@cache
def bundled_templates() -> dict[str, Path]:
    folder = shipped("data") / "templates"
    return {path.stem: path for path in sorted(folder.glob("*.toml")) if path.name != ENGLISH}


@cache
def _english() -> _EnglishFile:
    path = shipped("data") / "templates" / ENGLISH
    return check(_EnglishFile, read_toml(path), str(path))


def kinds_of(lists: WordLists | None, grammar: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """Part of speech of words: those of the bundled English lists, then what the lists and the user declare."""
    english = lists is None or subtag(lists.language) in ("", "en")
    declared = (_english().kinds if english else {}, {} if lists is None else lists.grammar, grammar)
    kind_of: dict[str, str] = {}
    for mapping in declared:
        for kind, words in checked(Grammar, {} if mapping is None else mapping, "grammar").items():
            kind_of |= dict.fromkeys(words, kind)
    return kind_of


def english_words() -> dict[str, str]:
    """Some 640 common English words with their parts of speech, which :func:`encode` takes as vocabulary.

    Examples
    --------
    >>> words = bb.contextual.english_words()
    >>> words["table"]
    'noun'
    """
    return {word: kind for kind, words in _english().vocabulary.items() for word in words}
