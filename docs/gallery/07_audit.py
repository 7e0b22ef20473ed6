"""Words that lean to a group.

Shrunken contrast of every word of the vocabulary, by its place in the file; words that are called are blue and some
of them labelled. The words are those of the vectors, and some are derogatory.
"""

import bayesbias as bb

found = bb.audit("google-news-slice", "gender")
figure = bb.plots.plot_audit(found)
