"""Every distance.

All cosine distances of the list religion, one point for each pair of words, by connection.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "religion")
figure = bb.plots.plot_distances(table)
