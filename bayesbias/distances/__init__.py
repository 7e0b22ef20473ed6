"""Distance tables: one row for each pair of a protected word and an attribute word."""

from bayesbias.distances import datasets
from bayesbias.distances.adjustment import Adjustment
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import Coverage, DistanceTable
from bayesbias.distances.datasets import coverage, read_distance_table, write_distance_table
from bayesbias.distances.tables import adjust, distance_table, distance_tables
from bayesbias.distances.vocabularies import relatedness, share_sample

__all__ = [
    "Adjustment",
    "Coverage",
    "DistanceTable",
    "Relatedness",
    "adjust",
    "coverage",
    "datasets",
    "distance_table",
    "distance_tables",
    "read_distance_table",
    "relatedness",
    "share_sample",
    "write_distance_table",
]
