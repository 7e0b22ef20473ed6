from .null_models import NullDistribution as NullDistribution
from .null_models import NullWeat as NullWeat
from .null_models import null_distribution as null_distribution
from .null_models import simulate_null_weat as simulate_null_weat
from .simulation import false_positive_rate as false_positive_rate
from .topics import TopicNull as TopicNull
