"""Contrasts of a word list.

Forest plot of the contrast of the list gender in the Google News vectors: the whole list first, then each protected
word, with points for posterior means and bars for 50% and 89% intervals.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "gender")
post = bb.fit(table, seed=0)
figure = bb.plot_contrasts(post)
