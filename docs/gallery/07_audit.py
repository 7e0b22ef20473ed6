"""Words that lean to a group.

Contrasts of the words of the vocabulary against their certainty; the words that are called are labelled.
"""

import bayesbias as bb

found = bb.audit("google-news-slice", "gender")
figure = bb.plots.plot_audit(found)
