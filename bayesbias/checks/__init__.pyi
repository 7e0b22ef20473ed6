from ..contrast import adjustment as adjustment
from ..distances import share_sample as share_sample
from ..models import add_log_likelihood as add_log_likelihood
from ..models import add_predictive as add_predictive
from ..models import add_prior as add_prior
from . import calibration as calibration
from .convergence import check_relatedness as check_relatedness
from .summaries import cluster_interval as cluster_interval
