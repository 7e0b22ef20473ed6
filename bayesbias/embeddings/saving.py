"""``save_embedding``: vectors on disk, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._files import check_target, whole_file
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

SUFFIXES = (".bin", ".txt", ".npz")


def save_embedding(kv: KeyedVectors, path: str | Path) -> None:
    """Write an embedding: word2vec's binary (``.bin``) or text format (``.txt``), or NumPy's archive (``.npz``).

    :func:`load_embedding` reads all of them. The file is written whole or not at all.

    Raises
    ------
    InputError
        Another suffix, a folder that does not exist, or a word with a blank, which word2vec's formats cannot hold.
    OSError
        The folder cannot be written, or the disk is full.
    """
    if not hasattr(kv, "key_to_index"):
        raise InputError(f"save_embedding takes a gensim KeyedVectors, given is {type(kv).__name__}")
    file = check_target(path, SUFFIXES, "an embedding")
    blank = [] if file.suffix == ".npz" else [word for word in kv.index_to_key if not word or len(word.split()) != 1]
    if blank:
        raise InputError(
            f"cannot write {file.name}: {len(blank)} words hold blanks ({', '.join(map(repr, blank[:5]))}), which "
            "word2vec's formats cannot hold: write .npz"
        )
    with whole_file(file) as temporary:
        if file.suffix == ".npz":
            np.savez(temporary, words=np.array(kv.index_to_key), vectors=kv.vectors)
        else:
            kv.save_word2vec_format(str(temporary), binary=file.suffix == ".bin")
