"""``Relatedness``: the covariance of distances to similar words, estimated from the vectors; how tables carry it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.files import from_json, to_json
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.numerics.constants import ENOUGH, FAR_ENOUGH, FREQUENT, SMALL_SAMPLE, UNREACHED
from bayesbias.numerics.related import (
    Components,
    PairSample,
    components_of,
    effective_size,
    flattened,
    pair_shares,
    positive,
    similarity_bins,
)
from bayesbias.results import Note, Result

if TYPE_CHECKING:
    import xarray as xr

KEY = "relatedness"  # name of the group of a fit
FAMILY_WORDS = 500  # protected words beyond which their mean correlation is estimated from as many, drawn at random
MOST_KEPT = 16  # overlaps of lists that are kept


def _weights(weights: NDArray[np.float32] | None, size: int) -> FloatArray:
    """Weights with mean 1; of a sample without them, 1."""
    return np.ones(size) if weights is None else weights / weights.mean(dtype=float)


@dataclass(frozen=True, repr=False, eq=False)
class Relatedness(Result):
    """Correlation of the distances between protected and attribute words, estimated from the vectors.

    Over a sample of the vocabulary the distances to the protected words have a covariance; each of its components has
    a variogram, the correlation of two words' values by the similarity of the words. With the similarities of the
    attribute words these give the covariance of all distances.

    Attributes
    ----------
    embedding, kind, seed, sample_words
        Facts on the embedding, and the seed and the N words of the sample, none of which is in a list: ``"ranks"`` are
        as frequent as the stereotypes, ``"random"`` of all words.
    lists
        One entry a list: its name, its kind (protected, stereotype, control) and the words of it that were found.
    protected_words, attribute_words, protected, attributes
        The J and W words that were found, and their unit vectors (J, d) and (W, d), in half precision; of concepts with
        several forms the mean of the forms' unit vectors.
    centre
        Mean unit vector (d,) of the sample.
    scatter
        Distances (J, N) of the protected words to the sample, each row centred. Of more words than dimensions, a
        matrix (d, N) that gives these as ``protected @ scatter``; :meth:`distances` has them in either case.
    pairs
        Pairs of sampled words with their similarity.
    protected_curve
        (BINS,): how similar two protected words are in their distances to these attribute lists, by their similarity.
    ranks
        Places of the sampled, the protected and the attribute words in the file, where it is ordered by frequency.
    forms, form_of
        Unit vectors (F, d) of the forms of attribute concepts with several, and the place of each one's concept among
        the attribute words, (F,); None where there are none.
    sample, near, everywhere
        Unit vectors (N, d) of the sampled words, by which several embeddings are compared, and their weights (N,) with
        mean 1, under which they are as near to the protected words as the words of the stereotype lists, and as those
        of the vocabulary; None of tables that were made without, where every word counts the same.

    References
    ----------
    Matheron, G. (1963). Principles of geostatistics. Economic Geology 58(8).
    https://doi.org/10.2113/gsecongeo.58.8.1246
    """

    picture: ClassVar[str] = "plot_relatedness"
    notes: ClassVar[tuple[Note, ...]] = ()
    prob: ClassVar[float] = 0.89

    embedding: Mapping[str, Any]
    kind: str
    seed: int
    sample_words: tuple[str, ...]
    lists: tuple[tuple[str, str, tuple[str, ...]], ...]
    protected_words: tuple[str, ...]
    attribute_words: tuple[str, ...]
    protected: NDArray[np.float16]
    attributes: NDArray[np.float16]
    centre: FloatArray
    scatter: NDArray[np.floating]
    pairs: PairSample
    protected_curve: FloatArray
    ranks: NDArray[np.int32] | None = None
    forms: NDArray[np.float16] | None = None
    form_of: NDArray[np.int32] | None = None
    sample: NDArray[np.float16] | None = None
    near: NDArray[np.float32] | None = None
    everywhere: NDArray[np.float32] | None = None
    # overlaps of lists that were counted already: a report asks for the same ones some fifty times
    _counted: dict[tuple[Any, ...], tuple[FloatArray, FloatArray]] = field(default_factory=dict, init=False)

    @property
    def ranks_by_word(self) -> dict[str, int]:
        """Place of each word in a file that is ordered by frequency, from 0; empty for other files."""
        words = (*self.sample_words, *self.protected_words, *self.attribute_words)
        if self.ranks is None or len(self.ranks) != len(words):
            return {}
        return dict(zip(words, self.ranks.tolist(), strict=True))

    @property
    def by_dimension(self) -> bool:
        """True where the rows of ``scatter`` are the dimensions of the vectors, not the protected words."""
        return len(self.scatter) < len(self.protected_words)

    def of_words(self, rows: FloatArray, words: NDArray[np.intp] | slice = slice(None)) -> FloatArray:
        """Values (words, m) of some protected words from what the rows of ``scatter`` have, (rows, m)."""
        return self.protected[words].astype(float) @ rows if self.by_dimension else rows[words]

    def distances(self, words: NDArray[np.intp] | slice = slice(None)) -> FloatArray:
        """Distances (words, N) of some protected words, by their places, to the sample, each row centred."""
        return self.of_words(self.scatter.astype(float), words)

    @property
    def mean_distances(self) -> FloatArray:
        """Mean distance (N,) of the protected words to each word of the sample, less the mean over these."""
        rows = self.scatter.astype(float)
        return self.protected.mean(axis=0, dtype=float) @ rows if self.by_dimension else rows.mean(axis=0)

    @property
    def near_weights(self) -> FloatArray:
        """Weights (N,) of the sampled words, with mean 1, under which they are about as near as the stereotypes."""
        return flattened(_weights(self.near, self.sampled))

    @property
    def everywhere_weights(self) -> FloatArray:
        """Weights (N,) of the sampled words, with mean 1, under which they are those of the vocabulary."""
        return _weights(self.everywhere, self.sampled)

    def with_sample(self, kept: NDArray[np.intp], scatter: FloatArray) -> Self:
        """The relatedness with some words of the sample only, and another scatter (rows, kept), rows centred."""
        number = np.full(self.sampled, -1)
        number[kept] = np.arange(len(kept))
        inside = (number[self.pairs.first] >= 0) & (number[self.pairs.second] >= 0)
        # a word stays with the chance kept / N as if drawn at random, and a pair with its two words: with the square
        pairs = PairSample(
            number[self.pairs.first[inside]],
            number[self.pairs.second[inside]],
            self.pairs.bins[inside],
            np.round(self.pairs.counts * (len(kept) / self.sampled) ** 2).astype(np.intp),
            self.pairs.weights[inside],
        ).packed(len(kept))
        names = ("sample", "near", "everywhere")
        parts: dict[str, Any] = {name: own[kept] for name in names if (own := getattr(self, name)) is not None}
        words = tuple(self.sample_words[i] for i in kept)
        return replace(self, sample_words=words, scatter=scatter, pairs=pairs, ranks=None, **parts)

    @property
    def sampled(self) -> int:
        """Number of sampled words."""
        return len(self.sample_words)

    @property
    def inflations(self) -> tuple[float, float]:
        """Factors on the variances of errors for what a small sample leaves unknown.

        The first is for the mean distance, the second for how distances to single protected words differ from it. The
        latter grows with the share of the sample that does not lie where the stereotypes do: with few words there, the
        largest similarities are not met, and the correlation of distances to similar words is underestimated.
        """
        every, near = (effective_size(_weights(each, self.sampled)) for each in (self.everywhere, self.near))
        reach = max(0.0, float(np.sqrt(ENOUGH / self.sampled)) - FAR_ENOUGH)
        return 1.0 + max(0.0, ENOUGH / every - 1) * SMALL_SAMPLE, 1.0 + (self.sampled / near - 1) * reach * UNREACHED

    @cached_property
    def components(self) -> Components:
        """Components of the protected side with their variograms; variances hold the inflation."""
        vectors = self.protected.astype(float) if self.by_dimension else None
        near, everywhere = self.near_weights, self.everywhere_weights
        scatter = np.ascontiguousarray(self.scatter, dtype=float)  # sums round alike, however it came here
        components = components_of(scatter, self.pairs, near, everywhere, vectors)
        return replace(components, variances=components.variances * self.factors_of(components))

    def factors_of(self, components: Components) -> FloatArray:
        """The factor (Q,) for a small sample that is in the variance of each component."""
        factors = np.full(len(components.variances), self.inflations[1])
        factors[0] = self.inflations[0]
        return factors

    @cached_property
    def units(self) -> NDArray[np.float32]:
        """Centred unit vectors (W, d) of the attribute words, whose products are their similarities."""
        return self.centred(self.attributes)

    def centred(self, vectors: NDArray[np.float16]) -> NDArray[np.float32]:
        """Unit vectors less the sample's mean, of length 1 again: their products are similarities."""
        apart = vectors.astype(np.float32)
        apart -= self.centre.astype(np.float32)
        apart /= np.sqrt(np.vecdot(apart, apart))[:, None]
        return apart

    @property
    def form_units(self) -> NDArray[np.float32] | None:
        """Centred unit vectors (F, d) of the forms of concepts; None where there are none."""
        return None if self.forms is None else self.centred(self.forms)

    @cached_property
    def _units_and_forms(self) -> NDArray[np.float32]:
        """:attr:`units`, and below them the centred unit vectors of the forms of concepts."""
        return self.units if self.form_units is None else np.vstack([self.units, self.form_units])

    def expanded(self, words: Sequence[str]) -> tuple[NDArray[np.float32], FloatArray | None]:
        """Centred unit vectors (R, d) of all forms of attribute words, and the share (words, R) of each form in a word.

        The shares are None where every word has one form.
        """
        rows, shares = self._expanded(self._places(words))
        return self._units_and_forms[rows], shares

    def _expanded(self, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], FloatArray | None]:
        if self.form_of is None or not np.isin(places, self.form_of).any():
            return places, None
        own = [np.flatnonzero(self.form_of == place) + len(self.units) for place in places]
        rows = [forms if len(forms) else np.array([place]) for forms, place in zip(own, places, strict=True)]
        counts = np.array([len(row) for row in rows])
        owner = np.repeat(np.arange(len(places)), counts)
        shares = (owner == np.arange(len(places))[:, None]) / counts[owner]
        return np.concatenate(rows), shares

    def stereotype_nearness(self, protected: NDArray[np.intp] | slice = slice(None)) -> dict[str, dict[str, float]]:
        """Nearness of the words of each stereotype list to the protected words: list to word to product.

        That is the product with the mean unit vector of the protected words, or of some of them, by their places, less
        that of the sample's mean; each form of a concept counts as a word.
        """
        towards = self.protected[protected].mean(axis=0, dtype=float)
        every = self.attributes if self.forms is None else np.vstack([self.attributes, self.forms])
        values = (every.astype(float) - self.centre) @ towards
        labels = [*self.attribute_words, *(f"form {i}" for i in range(len(every) - len(self.attribute_words)))]
        return {
            name: {labels[row]: float(values[row]) for row in self._expanded(self._places(words))[0].tolist()}
            for name, kind, words in self.lists
            if kind == "stereotype"
        }

    def _places(self, words: Sequence[str]) -> NDArray[np.intp]:
        place = {word: i for i, word in enumerate(self.attribute_words)}
        return np.array([place[word] for word in words], dtype=np.intp)

    def own_correlations(self, words: Sequence[str]) -> FloatArray:
        """Variance (Q, words) of each attribute word in each component: 1, less for a mean over several forms."""
        places, parts, units = self._places(words), self.components, self.form_units
        own = np.ones((len(parts.variances), len(words)))
        if self.form_of is None or units is None:
            return own
        for at, place in enumerate(places.tolist()):
            if len(forms := units[self.form_of == place]):
                kernel = parts.correlations[:, similarity_bins(forms @ forms.T)]
                kernel[:, np.arange(len(forms)), np.arange(len(forms))] = 1.0
                own[:, at] = kernel.mean(axis=(1, 2))
        return own

    def overlaps(self, member: NDArray[np.bool_], words: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Identical pairs and similarities of lists, which hold the words that ``member`` (lists, words) says."""
        key = (member.dtype.str, member.shape, member.tobytes(), tuple(words))
        if key not in self._counted:
            if len(self._counted) >= MOST_KEPT:
                self._counted.clear()
            rows, forms = self._expanded(self._places(words))
            weights = member if forms is None else member @ forms
            same, shares = pair_shares(weights, self._units_and_forms, self.seed, rows)
            same.flags.writeable = shares.flags.writeable = False
            self._counted[key] = same, shares
        return self._counted[key]

    def covariance(self, weights: FloatArray | pd.DataFrame) -> float | FloatArray:
        """Variance of a weighted sum of distances, or covariance (m, m) of several, in squared cosine distance.

        Parameters
        ----------
        weights
            (J, W), or (m, J, W) for m sums; rows and columns in the order of ``protected_words`` and
            ``attribute_words``. A DataFrame of protected words by attribute words is put into that order, with 0 for
            words that it lacks. Sums whose weights add up to 0 in each row do not depend on the mean distance.
        """
        shape = (len(self.protected_words), len(self.attribute_words))
        known = True
        if isinstance(weights, pd.DataFrame):
            asked, held = (weights.index, weights.columns), (self.protected_words, self.attribute_words)
            known = len(weights) > 0 and all({*own} <= {*words} for own, words in zip(asked, held, strict=True))
            weights = weights.reindex(index=self.protected_words, columns=self.attribute_words).fillna(0.0).to_numpy()
        values = np.asarray(weights, dtype=float)
        if not known or values.ndim not in (2, 3) or values.shape[-2:] != shape or not np.isfinite(values).all():
            raise InputError(
                f"weights are {values.shape}: give finite numbers of shape {shape} (protected words, attribute "
                "words), or several of these stacked; a DataFrame names these words"
            )
        parts, several = self.components, values.reshape(-1, *values.shape[-2:])
        units, shares = self.expanded(self.attribute_words)
        several = several if shares is None else several @ shares
        bins = similarity_bins(units @ units.T)
        diagonal = np.arange(len(bins))
        total = np.zeros((len(several), len(several)))
        rotated = np.einsum("jq,mjw->qmw", parts.loadings, several)
        for variance, correlations, own in zip(parts.variances, parts.correlations, rotated, strict=True):
            kernel = correlations[bins]
            kernel[diagonal, diagonal] = 1.0
            # a matrix of smoothed correlations need not be positive semi-definite, a covariance must be
            total += variance * positive((own @ kernel @ own.T)[None])[0]
        return total if values.ndim == 3 else float(total[0, 0])

    def effective_words(self) -> pd.DataFrame:
        """The effective number of words of each list: ``list``, ``kind``, ``words`` (found), ``effective``.

        The mean of an attribute list of n words varies as much as that of ``effective`` unrelated words; of n similar
        words this may be 2. For a group of protected words ``effective`` says the same of the bias of its words.
        """
        sampled, correlation = self.sampled_families(self.protected_words)
        parts, rows = self.components, []
        for name, kind, words in self.lists:
            if kind == "protected":
                inside = np.isin(np.array(self.protected_words)[sampled], words)
                own = correlation[np.ix_(inside, inside)]
                apart = (own.sum() - np.trace(own)) / max(len(own) * (len(own) - 1), 1)
                # the design effect of clusters with that mean correlation (Kish 1965, Survey Sampling)
                worth = len(words) / (1 + (len(words) - 1) * apart)
            else:
                same, shares = self.overlaps(np.ones((1, len(words)), dtype=bool), words)
                of_mean = (parts.correlations @ shares[0, 0]) + same[0, 0]
                total = parts.variances.sum()
                worth = total / max(parts.variances @ of_mean, 1e-12 * total)
            rows.append((name, kind, len(words), min(max(float(worth), 1.0), float(len(words)))))
        return pd.DataFrame(rows, columns=["list", "kind", "words", "effective"])

    def similarity_of_distances(self, words: Sequence[str]) -> FloatArray:
        """Correlation (J, J) of two protected words' distances to these attribute lists."""
        place = {word: i for i, word in enumerate(self.protected_words)}
        apart = self.protected[[place[word] for word in words]].astype(float) - self.centre
        lengths = np.linalg.norm(apart, axis=1, keepdims=True)
        units = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > NOTHING)
        raw: FloatArray = self.protected_curve[similarity_bins(units @ units.T)]
        np.fill_diagonal(raw, 1.0)
        return raw

    def families(self, words: Sequence[str] | None = None) -> FloatArray:
        """Correlation (J, J) of the bias of protected words beyond what the words of their groups share.

        The correlation of two words' distances to attribute lists, less its median over pairs of words of one group
        (or of two groups): words as similar as most of their group count as unrelated, *he, him, his* as little more
        than one word.
        """
        chosen = list(self.protected_words if words is None else words)
        raw = self.similarity_of_distances(chosen)
        group_of = {word: name for name, kind, listed in self.lists if kind == "protected" for word in listed}
        groups = np.array([group_of.get(word, "") for word in chosen])
        within = groups[:, None] == groups
        upper, shared = np.triu(np.ones_like(within), 1), np.zeros_like(raw)
        for pairs in (within, ~within):
            if (pairs & upper).any():
                shared[pairs] = np.clip(np.median(raw[pairs & upper]), 0.0, 1 - 1e-6)
        # a partial correlation given what is shared: the excess over it, as a share of the most that it could be
        matrix = positive(np.clip((raw - shared) / (1 - shared), 0.0, 1.0)[None])[0]
        spread = np.sqrt(np.diag(matrix))
        correlation: FloatArray = matrix / np.outer(spread, spread)
        return correlation

    def sampled_families(self, words: Sequence[str]) -> tuple[NDArray[np.intp], FloatArray]:
        """Places (S,) of the words among those given, in ascending order, and their :meth:`families` (S, S).

        Of many words these are some that are drawn at random with a fixed seed.
        """
        places = np.arange(len(words))
        if len(words) > FAMILY_WORDS:
            places = np.random.default_rng([self.seed, len(words)]).choice(len(words), FAMILY_WORDS, replace=False)
            places.sort()
        return places, self.families([words[place] for place in places.tolist()])

    @property
    def drawn(self) -> str:
        """The sample in a few words: ``3,000 words sampled from all words``."""
        kinds = {
            "frequent": f"the {FREQUENT:,} most frequent words",
            "ranks": "all words, as frequent as the stereotypes",
        }
        return f"{self.sampled:,} words sampled from {kinds.get(self.kind, 'all words')}"

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Effective numbers of words, by the covariance of distances"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        protected, attribute = len(self.protected_words), len(self.attribute_words)
        named = {"embedding": self.embedding.get("name"), "protected words": protected, "attribute words": attribute}
        return named | {"estimated from": self.drawn, "seed": self.seed}

    def table(self) -> pd.DataFrame:
        """The words of each list, and their effective number."""
        return self.effective_words()


DIMS = {
    "protected": ("protected_word", "dimension"),
    "attributes": ("attribute_word", "dimension"),
    "centre": ("dimension",),
    "scatter": ("scatter_row", "sample_word"),
    "first": ("sample_pair",),
    "second": ("sample_pair",),
    "bins": ("sample_pair",),
    "counts": ("similarity_bin",),
    "weights": ("sample_pair",),
    "protected_curve": ("similarity_bin",),
    "ranks": ("ranked_word",),
    "forms": ("form", "dimension"),
    "form_of": ("form",),
    "sample": ("sample_word", "dimension"),
    "near": ("sample_word",),
    "everywhere": ("sample_word",),
}
PAIRS = ("first", "second", "bins", "counts", "weights")
OPTIONAL = ("ranks", "forms", "form_of", "sample", "near", "everywhere")
WORDS = ("protected_word", "attribute_word", "sample_word")


def _arrays_of(relatedness: Relatedness) -> dict[str, NDArray[Any]]:
    """The numbers and words of relatedness as arrays; everything else as JSON in the array ``facts``."""
    facts = {name: getattr(relatedness, name) for name in ("embedding", "kind", "seed", "lists")}
    types, pairs = {"centre": np.float32, "counts": np.int64}, relatedness.pairs.packed(relatedness.sampled)
    values = {name: getattr(pairs if name in PAIRS else relatedness, name) for name in DIMS}
    arrays = {
        name: value.astype(types.get(name, value.dtype), copy=False)
        for name, value in values.items()
        if value is not None
    }
    words = {name: np.array(getattr(relatedness, f"{name}s"), dtype=str) for name in WORDS}
    return {**arrays, **words, "facts": np.array(to_json(facts))}


def relatedness_from(arrays: Mapping[str, NDArray[Any]]) -> Relatedness:
    """Relatedness from the arrays of :func:`_arrays_of`, whose sizes and numbers fit each other."""
    try:
        facts = from_json(str(arrays["facts"]))
        words = {name: tuple(map(str, np.asarray(arrays[name]).tolist())) for name in WORDS}
        values: dict[str, Any] = {name: arrays[name] for name in DIMS if name not in OPTIONAL or name in arrays}
        sizes: dict[str, int] = {name: len(own) for name, own in words.items()}
        sizes |= {"ranked_word": sum(sizes.values())}
        for name, array in values.items():
            expected = tuple(sizes.setdefault(dim, size) for dim, size in zip(DIMS[name], array.shape, strict=True))
            if array.shape != expected or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
                raise ValueError(f"{name} has the shape {array.shape}, or values that are no finite numbers")
        pairs = PairSample(**{name: values.pop(name) for name in PAIRS}).packed(sizes["sample_word"])
        values |= {name: values[name].astype(float) for name in ("centre", "protected_curve")}
        return Relatedness(
            **{name: facts[name] for name in ("embedding", "kind", "seed")},
            lists=tuple((name, kind, tuple(own)) for name, kind, own in facts["lists"]),
            pairs=replace(pairs, counts=pairs.counts.astype(np.intp)),
            **values | {f"{name}s": own for name, own in words.items()},
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"this is no relatedness as distance_table makes it: {error}") from error


def relatedness_content(relatedness: Relatedness) -> bytes:
    """Relatedness as an .npz file."""
    content = io.BytesIO()
    np.savez(content, **_arrays_of(relatedness))  # type: ignore[arg-type]  # the stubs take names for options
    return content.getvalue()


def relatedness_group(relatedness: Relatedness) -> xr.Dataset:
    """Relatedness as a group of a fit."""
    import xarray as xr

    arrays = _arrays_of(relatedness)
    data = {name: (dims, arrays[name]) for name, dims in DIMS.items() if name in arrays}
    coords = {name: arrays[name] for name in WORDS}
    return xr.Dataset(data, coords=coords, attrs={"facts": str(arrays["facts"])})


def relatedness_in_fit(post: xr.DataTree) -> Relatedness | None:
    """The relatedness of a fit, or None."""
    if KEY not in post.children:
        return None
    group = post[KEY].dataset
    arrays = {name: group.variables[name].to_numpy() for name in (*DIMS, *WORDS) if name in group.variables}
    return relatedness_from({**arrays, "facts": np.array(group.attrs.get("facts", ""))})
