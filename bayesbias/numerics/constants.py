"""Tuned constants of the covariance of distances; docs/model.md prints their table."""

SAMPLE = 3000
FREQUENT, CANDIDATES = 20_000, 20_000
NARROWEST, ANYWHERE = 0.25, 0.001
BANDWIDTH, MOST_WEIGHT, LEAST_WEIGHT, NEAR_SHARE = 0.3, 20.0, 1e-3, 0.95
LEAST_WORDS, FLATTER = 100, 0.9
STEP, WIDTH, PAIRS, FEWEST = 0.01, 0.05, 1000, 5
LEAST_APART = 0.05
LEAST_SAMPLE, ENOUGH, SMALL_SAMPLE = 30, 400, 0.17
UNREACHED, FAR_ENOUGH = 0.35, 0.35
FACTOR_MEDIAN, FACTOR_SPREAD = 0.9608, 0.2
PRIOR_FREEDOM, LEAST_CHI2 = 0.1, 0.04
POOL_SD = 0.35
SIGN_RATE = 0.025

TABLE: dict[str, tuple[str, str, str]] = {
    "SAMPLE": ("sample of the vocabulary", "words", "near_sizes"),
    "FREQUENT": ("words that count as frequent, of a file in the order of frequency", "words", "rare_words"),
    "CANDIDATES": ("words among which a sample near the lists is found", "words", "near_regions"),
    "NARROWEST": ("least kernel width around the place of a listed word in the file", "log places", "rare_words"),
    "ANYWHERE": ("share of the sample's rates that is spread over all places", "share", "rare_words"),
    "BANDWIDTH": ("kernel width of the densities of nearness", "sds of nearness", "near_regions"),
    "MOST_WEIGHT": ("largest ratio of the densities of lists and vocabulary", "ratio", "near_regions"),
    "LEAST_WEIGHT": ("least weight of a sampled word, whose mean is 1", "weight", "near_regions"),
    "NEAR_SHARE": ("share of the sample that follows the nearness of lists", "share", "near_regions"),
    "LEAST_WORDS": ("effective size of a sample below which its weights are made more equal", "words", "near_sizes"),
    "FLATTER": ("power that makes them more equal", "exponent", "near_sizes"),
    "STEP": ("width of a bin of similarity", "similarity", "halves"),
    "WIDTH": ("sd of the kernel that smooths variograms", "similarity", "halves"),
    "PAIRS": ("pairs that are kept of a bin", "pairs", "halves"),
    "FEWEST": ("smoothed pairs of a bin without which it says nothing", "pairs", "halves"),
    "LEAST_APART": ("least mean of 1 less the variogram", "correlation", "near_regions"),
    "LEAST_SAMPLE": ("sampled words without which nothing is said", "words", "near_sizes"),
    "ENOUGH": ("sampled words from which on the covariance is known well enough", "words", "near_sizes"),
    "SMALL_SAMPLE": ("what N sampled words add to variances, times 400 / N less 1", "share", "near_sizes"),
    "UNREACHED": ("what few near words add to variances of differences of protected words", "share", "near_regions"),
    "FAR_ENOUGH": ("what is taken off the root of 400 / N before that", "ratio", "near_regions"),
    "FACTOR_MEDIAN": ("prior median of a factor on standard deviations: its square has the mean 1", "ratio", "halves"),
    "FACTOR_SPREAD": ("prior sd of its logarithm", "log ratio", "halves"),
    "PRIOR_FREEDOM": ("prior degrees of freedom of variances between words", "degrees", "near_planted"),
    "LEAST_CHI2": ("least chi-squared variable of these variances", "chi-squared", "near_planted"),
    "POOL_SD": ("scale of the prior sd between words' associations", "sds of a word's distances", "rows"),
    "SIGN_RATE": ("expected share of wrong signs among words that are named together", "share", "signs"),
}
"""Name to what it is, its unit, and the study of benchmarks/validity that shows how intervals come out with it."""
