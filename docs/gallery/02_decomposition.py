"""A contrast and its two parts.

Three panels for the list gender: associated minus different, different minus human, and their sum, for the whole list
and for each protected word.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "gender")
post = bb.fit(table, seed=0)
figure = bb.plot_decomposition(post)
