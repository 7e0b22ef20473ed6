"""Results of one fit: contrasts and associations."""

from bayesbias.contrast.associations import GIVEN as GIVEN
from bayesbias.contrast.associations import ONE_GROUP as ONE_GROUP
from bayesbias.contrast.associations import POPULATIONS as POPULATIONS
from bayesbias.contrast.associations import SIMILAR as SIMILAR
from bayesbias.contrast.associations import association as association
from bayesbias.contrast.associations import decomposable_controls as decomposable_controls
from bayesbias.contrast.associations import decomposition as decomposition
from bayesbias.contrast.contrast import adjustment as adjustment
from bayesbias.contrast.contrast import beside_associated as beside_associated
from bayesbias.contrast.contrast import cell_estimates as cell_estimates
from bayesbias.contrast.contrast import connections_of as connections_of
from bayesbias.contrast.contrast import contrasts as contrasts
