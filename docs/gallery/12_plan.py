"""How many words a list needs.

Width of the interval and power to see a contrast of .05 as the lists of weat7 grow.
"""

import bayesbias as bb

plan = bb.plan(bb.distance_table("google-news-slice", "weat7"), effect=0.05, seed=0)
figure = bb.plots.plot_plan(plan)
