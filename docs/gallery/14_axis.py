"""Words on an axis.

Sports between poor and rich, a row each, with the intervals of their places; golf is furthest towards rich.
"""

import bayesbias as bb

sports = ["golf", "polo", "tennis", "basketball", "boxing", "baseball", "soccer", "hockey", "wrestling", "rugby"]
affluence = bb.axis("glove-50d-slice", "affluence", words=sports)
figure = bb.plots.plot_axis(affluence)
