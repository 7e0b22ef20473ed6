"""How far bias measures hang on choices of training: corpora, algorithms, dimensions, seeds."""

from bayesbias.stability.components import SettingComponents, setting_components
from bayesbias.stability.measuring import MetricStability, metric_stability
from bayesbias.stability.studies import DirectBiasStudy, direct_bias_study

__all__ = [
    "DirectBiasStudy",
    "MetricStability",
    "SettingComponents",
    "direct_bias_study",
    "metric_stability",
    "setting_components",
]
