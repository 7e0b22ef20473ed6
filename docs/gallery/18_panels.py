"""Three panels for a paper.

The contrast of three word lists in the Google News vectors, on one scale, in the width of a page. Points are posterior
means (hollow: unshrunken), thick bars 50% and thin bars 89% intervals for these words; blue words have a clear sign.
Left of 0 words are closer to the stereotypes of their own group.
"""

import matplotlib.pyplot as plt

import bayesbias as bb

plt.rcParams.update({"font.size": 7.5, "axes.titlesize": 8})
figure = plt.figure(figsize=(7.2, 2.9), layout="constrained")
panels = figure.subplots(1, 3, sharex=True)
for letter, name, axes in zip("abc", ["gender", "race", "weat7"], panels, strict=True):
    post = bb.fit(bb.distance_table("google-news-slice", name), seed=0)
    bb.plots.plot_contrasts(post, beside=False, title=f"({letter}) {name}", ax=axes)
