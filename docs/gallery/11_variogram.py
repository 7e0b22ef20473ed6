"""Similar words have correlated distances.

Correlation of two words' distances against the similarity of the words, one curve for each component of the
protected words of the list gender.
"""

import bayesbias as bb

table = bb.distance_table("google-news-slice", "gender")
figure = bb.plots.plot_variogram(table)
