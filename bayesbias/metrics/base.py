"""Inputs and results of every metric: queries, their words in an embedding, options and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from inspect import Parameter
from itertools import combinations, filterfalse
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, PlainValidator, model_validator

from bayesbias._support.arguments import finite_number, flag, one_of, printable, share, text, whole_number
from bayesbias._support.files import check, frozen, home_folder, read_toml
from bayesbias._support.paths import shipped
from bayesbias._support.registers import description_of, name_of, options_of
from bayesbias.errors import InputError, listed, near, shown
from bayesbias.numerics.arrays import FloatArray, IntArray, unit_rows
from bayesbias.numerics.resampling import ALTERNATIVES
from bayesbias.vectors import TWINS, Case, FoundWords, Twins, find_words, twin_sentence, twins_of, twins_within
from bayesbias.vectors.lookup import pairs_once
from bayesbias.words import Language, Name, Text, WordLists, bundled_names, html_of, lists_named, load_words

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

Sets = tuple[FloatArray, ...]  # vectors of some sets, each (words, dimensions)

Bounds = Callable[[list[int], Mapping[str, Any]], tuple[float, float]]
"""From the numbers of words of the target sets and the options to the smallest and the largest value."""


class Option(NamedTuple):
    """Default of an option, and the check that returns a valid value of it or raises InputError.

    The check takes the value and the name of the option, for its message.
    """

    default: Any
    check: Callable[[Any, str], Any]


@dataclass(frozen=True)
class Space:
    """The whole vocabulary."""

    unit: NDArray[np.floating]  # (words, dimensions): vectors of length 1
    rows: IntArray  # of the attribute words
    nearest: IntArray | None = None  # (attribute words, k): rows of their nearest neighbours where these are known


class Sides(NamedTuple):
    """Weights of the target words and of the attribute words, set after set: a cosine has the product of its two."""

    targets: FloatArray
    attributes: FloatArray


@dataclass(frozen=True)
class Linear:
    """A metric as a constant and a weighted sum of cosines of target words with attribute words.

    Attributes
    ----------
    sides
        A function from target sets and attribute sets to the weights of their words.
    constant
        What is added.
    needs
        Options, also of the look-up, that make the metric such a sum.
    """

    sides: Callable[[Sets, Sets], Sides]
    constant: float = 0.0
    needs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A metric's value on vectors; NaN where there is none, for a reason.

    Attributes
    ----------
    value
        The number.
    by_word
        What each of the metric's ``words`` adds, set after set; empty where words add nothing of their own.
    reason
        Why there is no value.
    p_value, partitions, exact
        Of a test that the metric itself makes; for a permutation test the partitions that it looked at, and whether
        these are all.
    notes, warning
        Sentences on the value, without the full stop, and one on why it tells nothing.
    null_mean, null_sd
        Of the metric over random attribute lists, where its p-value comes from them.
    """

    value: float
    by_word: FloatArray = field(default_factory=lambda: np.empty(0))
    reason: str | None = None
    p_value: float | None = None
    partitions: int | None = None
    exact: bool | None = None
    notes: tuple[str, ...] = ()
    warning: str | None = None
    null_mean: float | None = None
    null_sd: float | None = None

    @property
    def every_note(self) -> tuple[str, ...]:
        """Notes and warning."""
        return (*self.notes, self.warning) if self.warning else self.notes


ANY = (1, None)  # number of sets of a metric that takes as many as there are
GIVEN = ("compat", "space", "owners")  # parameters of ``measure`` that are no options


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric of target sets and attribute sets: a function, and its description.

    Attributes
    ----------
    name, title
        What it is called in code, and in print.
    measure
        A function of the vectors of target sets and of attribute sets, tuples of arrays (words, dimensions), and of the
        metric's options. It returns a number or a :class:`Measured`. The first paragraph of its docstring says what the
        value is.
    bounds
        Smallest and largest value, or a function to them from the numbers of words of the target sets and the options.
    source, doi
        Where it is defined.
    targets, attributes
        Least and largest number of target sets, and of attribute sets; None for any.
    words
        The words that :attr:`Measured.by_word` is about: ``"attributes"`` or ``"targets"``.
    optimum
        The value of no bias.
    options
        Name of an option to its default and check. Other parameters of ``measure`` are options that are not checked.
    linear
        Where it is a weighted sum of cosines: it has a test against random lists then, and multiverses take it.
    paired
        Whether the words of two target sets are pairs, in order.
    compat
        Whether ``measure`` takes ``compat``, which :func:`metric` explains.
    space
        Whether ``measure`` takes ``space``, the whole vocabulary.
    sentences
        Whether sets hold all sentences of all words; ``measure`` takes ``owners``, the place of each one's word.
    usual
        Whether it is taken where no metric is named.
    """

    name: str
    measure: Callable[..., Any]
    title: str = ""
    bounds: tuple[float, float] | Bounds = (-np.inf, np.inf)
    source: str = ""
    doi: str | None = None
    targets: tuple[int, int | None] = (2, 2)
    attributes: tuple[int, int | None] = (1, 1)
    words: str = "attributes"
    optimum: float = 0.0
    options: Mapping[str, Option] = field(default_factory=dict)
    linear: Linear | None = None
    paired: bool = False
    compat: bool = False
    space: bool = False
    sentences: bool = False
    usual: bool = True

    def __post_init__(self) -> None:
        printable(text(self.name, "the name of a metric"), "the name of a metric")
        if not callable(self.measure):
            raise InputError(f"measure of {self.name} is {shown(self.measure)}: give a function of sets of vectors")
        one_of(self.words, ("attributes", "targets"), f"words of {self.name}")
        finite_number(self.optimum, f"optimum of {self.name}")
        own = options_of(self.measure, 2, GIVEN, self.name)
        if without := [
            name for name, default in own.items() if default is Parameter.empty and name not in self.options
        ]:
            raise InputError(f"the option {without[0]!r} of {self.name} has no default: give one")
        further = {name: Option(default, lambda value, name: value) for name, default in own.items()}
        options = further | {name: Option(*option) for name, option in self.options.items()}
        if taken := [name for name in options if name in Lookup().options or name in ("name", "kv", "query")]:
            raise InputError(f"{self.name} has the option {taken[0]!r}, which every metric has: give it another name")
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "title", self.title or self.name)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Metric:
        """The metric of a function that takes any number of sets."""
        return cls(name_of(function), function, targets=ANY, attributes=ANY)

    @property
    def function(self) -> Callable[..., Any]:
        """The function that measures."""
        return self.measure

    @property
    def description(self) -> str:
        """A sentence on the value: the first paragraph of the measure's docstring."""
        return description_of(self.measure)

    def range(self, sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
        """Smallest and largest value for target sets of so many words and some options."""
        return self.bounds(sizes, options) if callable(self.bounds) else self.bounds

    @property
    def of_test(self) -> frozenset[str]:
        """The options that are about a test, which ``measure`` does not take."""
        return TEST_OPTIONS if "p_value" in self.options else frozenset()

    @property
    def template(self) -> tuple[int, int]:
        """Smallest numbers of target and attribute sets."""
        return self.targets[0], self.attributes[0]

    def measured(self, targets: Sets, attributes: Sets, **options: Any) -> Measured:
        """Value of the function for some vectors, which it may not write to."""
        for vectors in (*targets, *attributes):
            vectors.setflags(write=False)
        try:
            found = self.measure(targets, attributes, **options)
        except InputError:
            raise
        except Exception as error:  # of a function that may come from anywhere
            raise MetricFaultError(f"the metric {self.name} failed: {type(error).__name__}: {error}") from error
        return self._checked(found, sum(map(len, targets if self.words == "targets" else attributes)))

    def _checked(self, found: object, words: int) -> Measured:
        """The return value of the function for so many words, checked."""
        measured = found if isinstance(found, Measured) else Measured(found)  # type: ignore[arg-type]  # checked below
        value: object = measured.value
        by_word = np.asarray(measured.by_word)
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            fault = f"returned {shown(value)}: a number, or a Measured of one, is needed"
        elif not np.isfinite(float(value)) and measured.reason is None:
            fault = f"returned {value} without a reason: Measured(nan, reason='...') says why there is no value"
        elif by_word.dtype.kind not in "biuf" or (by_word.size and by_word.shape != (words,)):
            fault = f"returned by_word of shape {by_word.shape}: a number for each of {words} words, or none, is needed"
        else:
            return replace(measured, value=float(value))
        raise MetricFaultError(f"the metric {self.name} {fault}")


class MetricFaultError(InputError):
    """A metric failed, or returned what is no value."""


NOTHING = 1e-12  # cosines, and lengths beside 1, that are rounding and no more


def no_value(reason: str, words: int = 0) -> Measured:
    """NaN with its reason, for so many words."""
    return Measured(float("nan"), np.full(words, np.nan), reason=reason)


RELATED = "related"  # the value of ``p_value`` that asks for random lists
TEST_OPTIONS = frozenset({"p_value", "alternative", "permutations", "seed"})
SEED = Option(0, lambda value, name: whole_number(value, name, least=0, most=None))


def options_of_test(permutation: bool = False, related: bool = False) -> dict[str, Option]:
    """The options of a metric's tests, of which there is at least one."""
    valid = "True or False" if not related else "True, False or 'related'" if permutation else "False or 'related'"

    def checked(value: object, name: str) -> bool | str:
        if related and isinstance(value, str) and value == RELATED:
            return RELATED
        if not isinstance(value, bool | np.bool_) or (value and not permutation):
            why = ", and the metric has no permutation test" if value is True else ""
            raise InputError(f"{name} is {value!r}{why}: give {valid}")
        return flag(value, name)

    alternative = Option("two-sided", lambda value, name: one_of(value, ALTERNATIVES, name))
    permutations = {"permutations": Option(10_000, whole_number)} if permutation else {}
    return {"p_value": Option(False, checked), "alternative": alternative, **permutations, "seed": SEED}


def count_of(sets: tuple[int, int | None]) -> str:
    """Number of sets in words, from the least and the largest number."""
    least, most = sets
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"


def _set_of_words(words: Any) -> tuple[str, ...]:
    if isinstance(words, str | Mapping | set | frozenset) or not isinstance(words, Iterable):
        raise ValueError(f"is {shown(words)}: give its words in order, as a list")
    given: tuple[str, ...] = tuple(words)
    if odd := [word for word in given if not isinstance(word, str)]:
        raise ValueError(f"holds {shown(odd[0])}, which is no word: give text")
    if not given:
        raise ValueError("is empty: give at least one word")
    return given


def _some_sets[T: Mapping[str, Any]](sets: T) -> T:
    if not sets:
        raise ValueError("holds no set: give at least one, as a name and its words")
    return sets


type WordSets = Annotated[
    Mapping[Name, Annotated[Sequence[str], PlainValidator(_set_of_words)]], AfterValidator(_some_sets)
]


@frozen
class Query:
    """Target sets (words of social groups) and attribute sets that they are compared with.

    Attributes
    ----------
    targets, attributes
        Name of a set to its words, as listed: metrics of pairs take the words of two target sets in order, all others
        count a word of a set once.
    name
        What the query is called; by default its sets' names. Queries of one name stay apart.
    source, doi
        Where the words come from.
    language
        BCP 47 tag, for the language's rules of capitals.
    repeats
        Set to the words that were listed in it more than once.
    description
        What the query asks.

    References
    ----------
    Badilla, P., Bravo-Marquez, F. and Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI. https://doi.org/10.24963/ijcai.2020/60
    """

    targets: WordSets
    attributes: WordSets
    name: Text = ""
    source: Text = ""
    doi: Text | None = None
    language: Language = None
    description: Text = ""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if both := [name for name in self.targets if name in self.attributes]:
            raise InputError(f"{both[0]!r} names a target set and an attribute set: give each set a name of its own")
        if self.name == "":
            vars(self).update(name=f"{_joined(self.targets)} wrt {_joined(self.attributes)}")
        printable(self.name, "the name of the query")
        return self

    @classmethod
    def from_words(cls, words: WordLists | str | Path, controls: bool = False) -> Query:
        """The query of word lists: groups as target sets, their stereotypes as attribute sets.

        Parameters
        ----------
        words
            Word lists, or what :func:`load_words` takes.
        controls
            Whether the control lists are attribute sets too.
        """
        controls = flag(controls, "controls")
        words = words if isinstance(words, WordLists) else load_words(words)
        words.single_forms("a query")
        taken = {f"{group} stereotype": listed for group, listed in words.stereotypes.items()}
        taken |= dict(words.controls) if controls else {}
        return cls(words.protected, taken, words.name, words.source, words.doi, words.language)

    @property
    def template(self) -> tuple[int, int]:
        """Numbers of target sets and of attribute sets."""
        return len(self.targets), len(self.attributes)

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Every set by its name."""
        return {name: tuple(words) for part in (self.targets, self.attributes) for name, words in part.items()}

    @cached_property
    def distinct(self) -> dict[str, tuple[str, ...]]:
        """Every set by its name, each word once."""
        return {name: tuple(dict.fromkeys(words)) for name, words in self.sets.items()}

    @cached_property
    def repeats(self) -> dict[str, tuple[str, ...]]:
        """Set to the words that were listed in it more than once."""
        return {name: again for name, words in self.sets.items() if (again := _repeated(words))}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on words that stand more than once in a set, or in several sets."""
        notes = [f"{name} lists {', '.join(again)} more than once" for name, again in self.repeats.items()]
        shared: dict[tuple[str, ...], list[str]] = {}
        for word in _repeated([word for words in self.distinct.values() for word in words]):
            shared.setdefault(tuple(name for name, words in self.sets.items() if word in words), []).append(word)
        notes += [f"{' and '.join(names)} share {', '.join(words)}" for names, words in shared.items()]
        return tuple(notes)

    def subqueries(self, targets: int, attributes: int) -> tuple[Query, ...]:
        """All queries of so many of the target sets and so many of the attribute sets, in their order."""
        wanted = (whole_number(targets, "targets"), whole_number(attributes, "attributes"))
        if wanted[0] > self.template[0] or wanted[1] > self.template[1]:
            has, asked = (f"{t} target and {a} attribute sets" for t, a in (self.template, wanted))
            raise InputError(f"the query {self.name!r} has {has}, and no sub-query has {asked}")
        if wanted == self.template:
            return (self,)
        return tuple(
            Query(dict(t), dict(a), source=self.source, doi=self.doi, language=self.language)
            for t in combinations(self.targets.items(), wanted[0])
            for a in combinations(self.attributes.items(), wanted[1])
        )

    def _repr_html_(self) -> str:
        sets = (("target", self.targets), ("attribute", self.attributes))
        return f"<b>{escape(self.name)}</b>{html_of(sets, 'set')}"


def load_query(name_or_path: str | Path) -> Query:
    """A query by bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that :func:`list_queries` shows (``"weat1"`` to ``"weat10"``, ...), or the path of a TOML file with the
        keys ``name``, ``description``, ``source``, ``doi`` and the tables ``[targets]`` and ``[attributes]`` (name of
        a set to its words, or to a bundled list or the path of its file).

    Examples
    --------
    >>> query = bb.load_query("weat6")
    >>> list(query.targets), list(query.attributes)
    (['male_names', 'female_names'], ['career', 'family'])
    """
    if not isinstance(name_or_path, str | Path):
        raise InputError(f"load_query takes a name or a path, given is {type(name_or_path).__name__}")
    bundled = _bundled()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        name = str(name_or_path)
        hint = near(name, bundled)
        if name in bundled_names():
            makes = f"Query.from_words(load_words({name!r}))"
            hint = f" ({name!r} is a word list: {makes} makes a query of one with groups)"
        raise InputError(
            f"there is no query {name!r}{hint}: give the path of a TOML file or one of {', '.join(bundled)}"
        )
    content = read_toml(path)
    for kind in ("targets", "attributes"):
        if kind in content:
            content[kind] = lists_named(content[kind], path.parent, "set")
    return check(Query, content, str(path))


def list_queries() -> pd.DataFrame:
    """The bundled queries: ``name``, ``targets``, ``attributes`` (set to number of words), ``description``, ``doi``.

    Examples
    --------
    >>> "weat6" in bb.list_queries()["name"].tolist()
    True
    """
    import pandas as pd

    rows = []
    for name in _bundled():
        query = load_query(name)
        sizes = [{key: len(words) for key, words in sets.items()} for sets in (query.targets, query.attributes)]
        rows.append((name, *sizes, query.description, query.doi))
    return pd.DataFrame(rows, columns=["name", "targets", "attributes", "description", "doi"])


def _bundled() -> dict[str, Path]:
    def order(path: Path) -> tuple[str, int, str]:
        letters, digits, rest = re.split(r"(\d+|$)", path.stem, maxsplit=1)
        return letters, int(digits or 0), rest

    return {path.stem: path for path in sorted((shipped("data") / "queries").glob("*.toml"), key=order)}


def _repeated(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word, count in Counter(words).items() if count > 1)


def _joined(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


OnMissing = Literal["drop", "error"]


@dataclass(frozen=True)
class Lookup:
    """Options for the look-up of words."""

    on_missing: OnMissing = "drop"  # "drop" leaves missing words out and says so, "error" refuses them
    max_missing: float = 0.2  # largest share of a set's words (of the pairs, for metrics of pairs) that may be missing
    case: Case = "as-is"  # as in find_words
    normalise: bool = False  # whether vectors are scaled to length 1 first
    compat: str | None = None  # "wefe": repeated words count as lost, and pairs whose word is missing shift
    twins: Twins = "once"  # whether words of a set (pairs) that have one vector count "once", or all: "keep"
    without: frozenset[str] = frozenset()  # words that count as missing although the embedding holds them
    alike: Mapping[str, str] | None = None  # word to the one it counts as, in several embeddings; None: by the vectors

    @classmethod
    def checked(
        cls, on_missing: OnMissing, max_missing: float, case: Case, normalise: bool, compat: str | None, twins: Twins
    ) -> Lookup:
        """Arguments of a public function, checked."""
        one_of(on_missing, ("drop", "error"), "on_missing")
        one_of(case, ("as-is", "fallback"), "case")
        if compat is not None:
            one_of(compat, ("wefe",), "compat")
        one_of(twins, TWINS, "twins")
        return cls(on_missing, share(max_missing, "max_missing"), case, flag(normalise, "normalise"), compat, twins)

    @property
    def options(self) -> dict[str, Any]:
        """The options by the names of the public functions' arguments."""
        names = ("on_missing", "max_missing", "case", "normalise", "compat", "twins")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class FoundSets:
    """Vectors of a query's sets."""

    targets: Sets
    attributes: Sets
    words: Mapping[str, tuple[str, ...]]  # set to the words that were used
    keys: Mapping[str, str]  # word to the key under which the embedding holds it
    entries: tuple[Mapping[str, Any], ...]  # one a set: set, kind, asked, found, missing (words)
    reason: str | None  # why there can be no value
    notes: tuple[str, ...]  # on what was left out
    twin_notes: tuple[str, ...] = ()  # those of them on words that have one vector


def look_up(kv: KeyedVectors, query: Query, how: Lookup, paired: bool) -> FoundSets:
    """Look a query's words up."""
    sets = {
        name: find_words(kv, filterfalse(how.without.__contains__, words), how.case, query.language)
        for name, words in query.distinct.items()
    }
    entries = _entries(query, sets)
    if how.on_missing == "error":
        _refuse_missing(entries, query)
    counted: dict[str, tuple[str, ...]] = {name: _once(words.keys) for name, words in sets.items()}
    notes, alike = _lost(entries, sets, counted), _alike(sets, how)
    counted, twin_notes = _once_by_vector(counted, query.attributes if paired else query.sets, alike)
    if paired and how.compat != "wefe":
        targets, reasons, lost, again = _pairs(query, sets, how, alike)
        counted, notes, twin_notes = counted | targets, [*notes, *lost], [*twin_notes, *again]
    else:
        reasons = _too_few(query, query.sets, sets, how)
        if paired:
            least = min(len(counted[name]) for name in query.targets)
            counted |= {name: counted[name][:least] for name in query.targets}
    twin_notes += _across(counted, sets, alike)
    return FoundSets(
        targets=_vectors(query.targets, sets, counted, how),
        attributes=_vectors(query.attributes, sets, counted, how),
        words=counted,
        keys={word: key for words in sets.values() for word, key in words.keys.items()},
        entries=entries,
        reason="; ".join(reasons) or None,
        notes=(*notes, *twin_notes),
        twin_notes=tuple(twin_notes),
    )


def _entries(query: Query, sets: Mapping[str, FoundWords]) -> tuple[Mapping[str, Any], ...]:
    """Words of each set that were asked for, found and missing."""
    return tuple(
        {
            "set": name,
            "kind": "target" if name in query.targets else "attribute",
            "asked": len(query.distinct[name]),
            "found": len(words.keys),
            "missing": list(filterfalse(words.keys.__contains__, query.distinct[name])),
        }
        for name, words in sets.items()
    )


def _refuse_missing(entries: Iterable[Mapping[str, Any]], query: Query) -> None:
    """Refuse a query of which the embedding lacks a word."""
    if lost := [word for entry in entries for word in entry["missing"]]:
        raise InputError(
            f"the embedding lacks {listed(lost)}, words of the query "
            f"{query.name!r}: change the query, or pass on_missing='drop'"
        )


def _once_by_vector(
    counted: Mapping[str, tuple[str, ...]], names: Iterable[str], alike: Mapping[str, str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Words by set, those of some sets once for each vector, and a sentence on each set that has fewer for it."""
    once, notes = dict(counted), []
    for name in names:
        again = twins_within(counted[name], alike)
        once[name] = tuple(word for word in counted[name] if word not in again)
        notes += [f"{name}: {twin_sentence(again.items())}: counted once"] if again else []
    return once, notes


class Pairs(NamedTuple):
    """Words of the two targets whose partners were found too, in order."""

    targets: dict[str, tuple[str, ...]]
    reasons: list[str]  # why there can be no value of pairs
    lost: list[str]  # sentence on pairs that lack a word
    again: list[str]  # sentences on pairs of one vector, or of those of an earlier pair


def _pairs(query: Query, sets: Mapping[str, FoundWords], how: Lookup, alike: Mapping[str, str]) -> Pairs:
    """The pairs of a query's targets, for metrics that take them in order."""
    left, right = query.targets.values()
    if len(left) != len(right):
        raise InputError(
            f"metrics of pairs take the words of {' and '.join(map(repr, query.targets))} in order, and they have "
            f"{len(left)} and {len(right)} words: give as many to each, or leave ripa, direct_bias, db_wa and nbm "
            "out"
        )
    pairs = list(zip(left, right, strict=True))
    first, second = (sets[name].keys for name in query.targets)
    whole = [pair for pair in pairs if pair[0] in first and pair[1] in second]
    reasons, lost, lacking = _too_few(query, query.attributes, sets, how), [], len(pairs) - len(whole)
    if lacking > how.max_missing * len(pairs) or not whole:
        reasons.insert(0, f"{lacking} of {len(pairs)} pairs lack a word{_limit(how)}")
    elif lacking:
        lost.append(f"{lacking} of {len(pairs)} pairs lack a word and were left out")
    apart, again = pairs_once(whole, alike)
    if whole and not apart:
        reasons.append("the words of every pair have one vector, so that nothing relates them")
    words = zip(*apart, strict=True) if apart else ((), ())
    return Pairs(dict(zip(query.targets, words, strict=True)), reasons, lost, again)


def _vectors(
    names: Iterable[str], sets: Mapping[str, FoundWords], counted: Mapping[str, Sequence[str]], how: Lookup
) -> Sets:
    """Vectors of the counted words of some sets."""
    arrays = [sets[name].of(counted[name]) for name in names]
    return tuple(unit_rows(array) if how.normalise and len(array) else array for array in arrays)


def _alike(sets: Mapping[str, FoundWords], how: Lookup) -> Mapping[str, str]:
    """Word to the first word of the sets that has its vector, for words that are not the first."""
    if how.twins == "keep" or how.compat == "wefe":
        return {}
    if how.alike is not None:
        return how.alike
    keys: dict[str, str] = {}
    vectors = []
    for words in sets.values():
        new = {word: key for word, key in words.keys.items() if word not in keys}
        vectors.append(words.of(list(new)))
        keys |= new
    return twins_of(FoundWords(keys, np.concatenate(vectors)))


def every_word(queries: Iterable[Query]) -> list[str]:
    """The words of some queries, each once."""
    return list(dict.fromkeys(word for query in queries for words in query.sets.values() for word in words))


def _across(
    counted: Mapping[str, Sequence[str]], sets: Mapping[str, FoundWords], alike: Mapping[str, str]
) -> list[str]:
    """A sentence on words of different sets that have one vector, although the embedding tells them apart by name."""
    places: dict[str, dict[str, str]] = {}
    for name, words in counted.items() if alike else ():
        for word in words:
            places.setdefault(alike.get(word, word), {}).setdefault(sets[name].keys[word], f"{word} ({name})")
    shared = [", ".join(words.values()) for words in places.values() if len(words) > 1]
    return [f"one vector in different sets, where all stay: {'; '.join(shared)}"] if shared else []


def _lost(
    entries: Iterable[Mapping[str, Any]], sets: Mapping[str, FoundWords], counted: Mapping[str, Sequence[str]]
) -> list[str]:
    """Sentences on missing words, and on those that are one under several spellings."""
    notes = [
        f"{entry['set']} lacks {', '.join(entry['missing'])} ({len(entry['missing'])} of {entry['asked']} words)"
        for entry in entries
        if entry["missing"]
    ]
    for name, words in sets.items():
        if len(counted[name]) < len(words.keys):
            keys = list(words.keys.values())
            again = dict.fromkeys(key for key in keys if keys.count(key) > 1)
            notes.append(f"{name} holds {', '.join(again)} in several spellings, which count once")
    return notes


def _once(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Words without those that the embedding holds under the key of an earlier one."""
    if len(set(keys.values())) == len(keys):
        return tuple(keys)
    first = {key: word for word, key in reversed(list(keys.items()))}
    return tuple(word for word, key in keys.items() if first[key] == word)


def _too_few(query: Query, names: Iterable[str], sets: Mapping[str, FoundWords], how: Lookup) -> list[str]:
    """A sentence for each of some sets that lost too many words."""
    reasons = []
    for name in names:
        count = len(query.sets[name] if how.compat == "wefe" else query.distinct[name])
        lost = count - len(sets[name].keys)
        if lost > how.max_missing * count or lost == count:
            what = "missing or repeated" if how.compat == "wefe" else "missing"
            capital = how.case == "as-is" and any(word != word.lower() for word in query.sets[name])
            hint = "; it has capital letters: case='fallback' tries others" if capital else ""
            reasons.append(f"{lost} of {count} words of the set {name!r} are {what}{_limit(how)}{hint}")
    return reasons


def _limit(how: Lookup) -> str:
    return f" (at most {how.max_missing:.0%} may be)" if how.max_missing < 1 else ""
