"""Words that lean to one of two poles.

Shrunken place of every word of the vocabulary between woman and man, by its frequency; words that are called are blue,
and some of them are named. The words are those of the vectors, and some are derogatory.
"""

import bayesbias as bb

found = bb.audit("glove-50d-slice", "gender")
figure = bb.plots.plot_audit(found)
