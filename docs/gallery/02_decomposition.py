"""A contrast and its parts.

Four panels for the list gender: the association of each protected word, how near its own list is to all words, how near
the word is to the stereotypes of the other group beside words for people, and the sum of the three, associated minus
human. The whole list stands above.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "gender")
post = bb.fit(table, seed=0)
figure = bb.plots.plot_decomposition(post)
