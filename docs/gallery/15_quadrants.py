"""Words between two axes.

Occupations in the plane of gender and affluence, with the intervals of both places; each corner names its quadrant and
the share of occupations in it.
"""

import bayesbias as bb

gender, affluence = (bb.axis("glove-50d-slice", name) for name in ("gender", "affluence"))
occupations = ["nurse", "manager", "designer", "soldier", "housekeeper", "architect", "janitor", "lawyer", "dancer"]
figure = bb.plots.plot_quadrants(bb.quadrants(gender, affluence, occupations))
