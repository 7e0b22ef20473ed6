"""The command that changes an embedding."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesbias._files import check_target


def debias(
    embedding: Annotated[str, typer.Argument(help="A bundled name or the path of an embedding file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Embedding to write: .bin, .txt (word2vec) or .npz.")],
    method: Annotated[
        str, typer.Option(help="project, hard, hard_multiclass, soft, half_sibling or null_space.")
    ] = "hard",
    pairs: Annotated[
        str | None, typer.Option(help="Defining pairs: a bundled list such as gender_pairs, or a TOML file.")
    ] = None,
    words: Annotated[
        str | None, typer.Option(help="Word lists whose groups, word by word, are the defining sets, such as religion.")
    ] = None,
    equalize: Annotated[str | None, typer.Option(help="Pairs to equalise (hard): a list of pairs.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Words to leave alone: a list of words.")] = None,
    components: Annotated[int | None, typer.Option(help="How many directions.", min=1)] = None,
    order: Annotated[str | None, typer.Option(help="simultaneous or sequential (hard_multiclass).")] = None,
    strength: Annotated[float | None, typer.Option(help="Of the lowering (soft).")] = None,
    penalty: Annotated[float | None, typer.Option(help="Of the ridge (half_sibling).")] = None,
    trust_pickle: Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")] = False,
) -> None:
    """A debiased copy of an embedding."""
    from bayesbias.cli.screen import say, working
    from bayesbias.debiasing import debias as debias_embedding
    from bayesbias.embeddings import load_embedding, save_embedding
    from bayesbias.embeddings.saving import SUFFIXES

    check_target(out, SUFFIXES, "an embedding")
    options: dict[str, Any] = _defining(method, pairs, words)
    if equalize is not None:
        options["equalize"] = list(_pairs(equalize))
    if ignore is not None:
        options["ignore"] = list(_words(ignore))
    given = {"components": components, "order": order, "strength": strength, "penalty": penalty}
    options |= {name: value for name, value in given.items() if value is not None}
    kv = load_embedding(embedding, trust_pickle=trust_pickle)
    with working("debiasing"):
        after = debias_embedding(kv, method, **options)
    save_embedding(after, out)
    say(str(after.bayesbias_debiasing))
    say(f"{len(after):,} vectors written to {out}")


def _defining(method: str, pairs: str | None, words: str | None) -> dict[str, Any]:
    """The option of a method that holds its defining sets, or groups."""
    from bayesbias.errors import InputError
    from bayesbias.words import load_words

    if (pairs is None) == (words is None):
        raise InputError("the defining words are needed: give --pairs or --words, one of the two")
    if pairs is not None:
        sets = list(_pairs(pairs))
        groups = {"first": [pair[0] for pair in sets], "second": [pair[1] for pair in sets]}
    else:
        groups = {name: list(listed) for name, listed in load_words(str(words)).protected.items()}
        if len({len(listed) for listed in groups.values()}) > 1 and method != "null_space":
            sizes = ", ".join(f"{name} {len(listed)}" for name, listed in groups.items())
            raise InputError(f"the groups of {words} have different numbers of words ({sizes}): give --pairs")
        sets = list(zip(*groups.values(), strict=False))
    if method == "null_space":
        return {"groups": groups}
    return {"sets" if method == "hard_multiclass" else "definitional": sets}


def _pairs(name: str) -> tuple[tuple[str, str], ...]:
    from bayesbias.errors import InputError
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if not isinstance(listed, PairList):
        raise InputError(f"{name} is a list of words: pairs are needed, such as gender_pairs")
    return listed.pairs


def _words(name: str) -> tuple[str, ...]:
    from bayesbias.errors import InputError
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if isinstance(listed, PairList):
        raise InputError(f"{name} is a list of pairs: a list of words is needed")
    return tuple(listed)
