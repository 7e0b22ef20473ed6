"""Associations with every list.

Matrix of the list religion: the association of each protected word with the stereotypes of each group, purple where it
is closer and orange where it is farther; frames mark words whose sign is clear.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "religion")
post = bb.fit(table, seed=0)
figure = bb.plots.plot_association(post)
