"""Fixtures: shared reference data, the bundled vectors, one fit."""

import os
from pathlib import Path

import pytest

import bayesbias as bb


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; tests that need it skip where it is absent, unless it is required."""
    folder = Path(os.environ.get("BAYESBIAS_SHARED", Path(__file__).parents[2] / "shared"))
    if (folder / "paper_tables").is_dir():
        return folder
    if os.environ.get("BAYESBIAS_REQUIRE_SHARED"):
        pytest.fail(f"the reference data are required, and {folder} does not hold them")
    pytest.skip(f"the reference data are not at {folder}; set BAYESBIAS_SHARED to where they are")


@pytest.fixture(scope="session")
def slice_vectors():
    return bb.load_embedding("google-news-slice")


@pytest.fixture(scope="session")
def religion(slice_vectors):
    return bb.distance_table(slice_vectors, "religion")


@pytest.fixture(scope="session")
def religion_fit(religion):
    return bb.fit(religion, seed=1)
