"""The likelihood of the crossed model would be wrong, and with it every fit without vectors."""

import numpy as np
import pytest

from bayesbias.numerics.holes import holed_sums
from bayesbias.numerics.marginal import LOG_2PI, Scales, crossed_sums, find_patterns

PRIOR_SD = 0.3
CONNECTIONS = 4
UNITS = [0.01, 0.011, 0.009, 0.008], [0.001, 0.002, 0.0005, 0.0015], [0.002, 0.001, 0.004]
EARLIER_MU = [
    [-0.0969728838216446, -0.0886866861079101, -0.1043321154092379, -0.1068873718719966],
    [-0.1062816751304965, -0.1211832886743098, -0.1005437175815166, -0.0628827644429918],
    [-0.1207120807220693, -0.1120969743312147, -0.0887178634906765, -0.0864766454652848],
]
EARLIER_CELLS = [-0.1030708593677859, -0.1012982590781552, -0.1043208057046819]


def rows_of(words, groups, sizes, missing, seed):
    """Protected word, connection and attribute word of each row, group of each word and class of each attribute."""
    rng = np.random.default_rng(seed)
    group_of_word = np.r_[np.arange(groups), rng.integers(0, groups, words - groups)]
    lists = [(0, sizes[0], group) for group in range(groups)] + [(1, sizes[1], None), (2, sizes[2], None)]
    rows, class_of_attribute = [], []
    for attribute_class, size, owner in lists:
        for _ in range(size):
            for word in range(words):
                own = int(group_of_word[word] != owner)
                connection = own if attribute_class == 0 else attribute_class + 1
                if rng.random() >= missing:
                    rows.append((word, connection, len(class_of_attribute)))
            class_of_attribute.append(attribute_class)
    word, connection, attribute = np.array(rows).T
    y = rng.normal(-0.1, 0.1, len(rows))
    return word, connection, attribute, group_of_word, np.array(class_of_attribute), y


def dense(word, connection, attribute, group_of_word, class_of_attribute, y, scales, at):
    """The log density of all rows at one point, from their whole covariance."""
    same_connection = np.equal.outer(connection, connection)
    same_attribute = np.equal.outer(attribute, attribute)
    group = group_of_word[word]
    covariance = np.diag(scales.sigma2[at, connection]) + PRIOR_SD**2 * same_connection
    covariance += same_connection * np.equal.outer(word, word) * scales.s2[at, connection]
    covariance += same_attribute * scales.attribute[at, class_of_attribute[attribute]]
    if scales.interaction is not None:
        covariance += same_attribute * np.equal.outer(group, group) * scales.interaction[at]
    chol = np.linalg.cholesky(covariance)
    white = np.linalg.solve(chol, y)
    return -0.5 * white @ white - np.log(np.diag(chol)).sum() - 0.5 * len(y) * LOG_2PI


def sums_of(rows, by_group):
    word, connection, attribute, group_of_word, class_of_attribute, y = rows
    groups = group_of_word if by_group else np.zeros_like(group_of_word)
    patterns, blocks = find_patterns(word, connection, attribute, groups, class_of_attribute, y, CONNECTIONS)
    return crossed_sums(patterns, blocks, groups, CONNECTIONS, by_group)


def holed_of(rows, by_group):
    word, connection, attribute, group_of_word, class_of_attribute, y = rows
    groups = group_of_word if by_group else np.zeros_like(group_of_word)
    rows = (word, connection, attribute, groups, class_of_attribute, y)
    filled = np.zeros((len(groups), CONNECTIONS), dtype=bool)
    filled[word, connection] = True
    return holed_sums(find_patterns(*rows, CONNECTIONS)[0], filled, *rows)


@pytest.mark.parametrize(("missing", "interaction"), [(0.0, True), (0.15, True), (0.15, False)])
@pytest.mark.parametrize(("words", "groups", "sizes"), [(9, 3, (3, 8, 14)), (4, 1, (2, 1, 2))])
def test_density_equals_the_normal_of_all_rows(words, groups, sizes, missing, interaction):
    rows, rng = rows_of(words, groups, sizes, missing, seed=1), np.random.default_rng(2)
    points = 4
    scales = Scales(
        sigma2=np.exp(2 * rng.normal(-2, 1, (points, CONNECTIONS))),
        s2=np.exp(2 * rng.normal(-2.5, 1.5, (points, CONNECTIONS))),
        attribute=np.exp(2 * rng.normal(-2, 1, (points, 3))),
        interaction=np.exp(2 * rng.normal(-3, 1.5, points)) if interaction else None,
    )
    by_pattern = sums_of(rows, interaction).log_likelihood(scales, PRIOR_SD)
    by_cell = holed_of(rows, interaction).log_likelihood(scales, PRIOR_SD)
    expected = np.array([dense(*rows, scales, at) for at in range(points)])
    np.testing.assert_allclose(by_pattern, expected, rtol=1e-8)
    np.testing.assert_allclose(by_cell, expected, rtol=1e-8)


def test_tables_with_holes_have_the_densities_and_draws_of_an_earlier_engine():
    """Literals are those of the engine of commit 118a4fed."""
    at = [1, 0.25, 4], [1, 4, 0.1], [1, 0.25, 5]
    sigma2, s2, attribute = (np.outer(row, unit) for row, unit in zip(at, UNITS, strict=True))
    scales = Scales(sigma2, s2, attribute, np.array([0.001, 0.0001, 0.004]))
    rows = rows_of(12, 2, (12, 20, 60), 0.15, seed=1)
    sums, filled = holed_of(rows, True), np.ones((12, CONNECTIONS), dtype=bool)
    expected = [859.6008881326037, -106.2057637637891, 548.2995183434641]
    np.testing.assert_allclose(sums.log_likelihood(scales, PRIOR_SD), expected, rtol=1e-11)
    rng = np.random.default_rng(7)
    mu, cells_of = sums.draw_cells(scales, PRIOR_SD, filled, rng)
    np.testing.assert_allclose(mu, EARLIER_MU, rtol=1e-10)
    np.testing.assert_allclose(cells_of(slice(12), rng).mean(axis=(0, 1)), EARLIER_CELLS, rtol=1e-10)


def test_a_table_that_lacks_one_pair_has_one_density_by_patterns_and_by_cells():
    rows = rows_of(9, 3, (3, 8, 14), 0.0, seed=6)
    rows = [*(column[1:] for column in rows[:3]), *rows[3:5], rows[5][1:]]
    interaction = np.array([0.001, 0.02])
    scales = Scales(np.full((2, 4), 0.01), np.full((2, 4), 0.002), np.full((2, 3), 0.004), interaction)
    assert len(sums_of(rows, True).patterns) == 6
    expected = sums_of(rows, True).log_likelihood(scales, PRIOR_SD)
    np.testing.assert_allclose(holed_of(rows, True).log_likelihood(scales, PRIOR_SD), expected, rtol=1e-12)
