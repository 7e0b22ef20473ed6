"""Mean distances by connection.

Posterior mean distance of the list weat7 and of each of its protected words under each connection, with 50% and 89%
intervals.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "weat7")
post = bb.fit(table, seed=0)
figure = bb.plots.plot_coefficients(post)
