"""Results of one fit: contrasts, associations and their parts, and the joint posterior of its mean distances."""

from bayesbias.contrast.associations import association as association
from bayesbias.contrast.associations import decomposable as decomposable
from bayesbias.contrast.associations import decomposition as decomposition
from bayesbias.contrast.associations import estimates as estimates
from bayesbias.contrast.contrast import POPULATION as POPULATION
from bayesbias.contrast.contrast import SAMPLE as SAMPLE
from bayesbias.contrast.contrast import TARGETS as TARGETS
from bayesbias.contrast.contrast import adjustment as adjustment
from bayesbias.contrast.contrast import beside_associated as beside_associated
from bayesbias.contrast.contrast import contrasts as contrasts
