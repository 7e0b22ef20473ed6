"""Contrasts of a word list.

Forest plot of associated minus different of the list gender in the Google News vectors: the whole list first, then the
shrunken association of each protected word, with points for posterior means, hollow ones for unshrunken means, and bars
for 50% and 89% intervals. Blue words have a clear sign.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "gender")
post = bb.fit(table, seed=0)
figure = bb.plots.plot_contrasts(post)
