"""The likelihood of the crossed model would be wrong, and with it every fit without vectors."""

import numpy as np
import pytest

from bayesbias.numerics.marginal import (
    LOG_2PI,
    Scales,
    crossed_sums,
    find_patterns,
    pattern_log_likelihood,
)

PRIOR_SD = 0.3
CONNECTIONS = 4


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


@pytest.mark.parametrize("interaction", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("words", "groups", "sizes"), [(9, 3, (3, 8, 14)), (12, 2, (12, 20, 60)), (4, 1, (2, 1, 2))])
def test_density_equals_the_normal_of_all_rows(words, groups, sizes, missing, interaction):
    rows = rows_of(words, groups, sizes, missing, seed=1)
    assert 10 < len(rows[-1]) < 1500
    rng = np.random.default_rng(2)
    points = 4
    scales = Scales(
        sigma2=np.exp(2 * rng.normal(-2, 1, (points, CONNECTIONS))),
        s2=np.exp(2 * rng.normal(-2.5, 1.5, (points, CONNECTIONS))),
        attribute=np.exp(2 * rng.normal(-2, 1, (points, 3))),
        interaction=np.exp(2 * rng.normal(-3, 1.5, points)) if interaction else None,
    )
    by_pattern = pattern_log_likelihood(sums_of(rows, interaction), scales, PRIOR_SD)
    expected = np.array([dense(*rows, scales, at) for at in range(points)])
    np.testing.assert_allclose(by_pattern, expected, rtol=1e-8)


def test_a_vanishing_interaction_is_no_interaction():
    rows = rows_of(9, 3, (3, 8, 14), 0.0, seed=3)
    plain = Scales(np.full((1, 4), 0.01), np.full((1, 4), 0.002), np.full((1, 3), 0.004), None)
    small = Scales(plain.sigma2, plain.s2, plain.attribute, np.array([1e-30]))
    with_term = pattern_log_likelihood(sums_of(rows, True), small, 0.3)
    np.testing.assert_allclose(with_term, pattern_log_likelihood(sums_of(rows, False), plain, 0.3), rtol=1e-10)


def test_complete_tables_have_few_patterns():
    assert len(sums_of(rows_of(9, 3, (3, 8, 14), 0.0, seed=4), True).patterns) == 5
