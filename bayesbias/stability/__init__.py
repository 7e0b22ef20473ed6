"""How far bias measures depend on choices of training: corpora, algorithms, dimensions, seeds."""

from bayesbias.embeddings import Setting, ToyCorpus, toy_corpus, train_embeddings
from bayesbias.stability.setting_components import SettingComponents, setting_components
from bayesbias.stability.studies import DirectBiasStudy, MetricStability, direct_bias_study, metric_stability

__all__ = [
    "DirectBiasStudy",
    "MetricStability",
    "Setting",
    "SettingComponents",
    "ToyCorpus",
    "direct_bias_study",
    "metric_stability",
    "setting_components",
    "toy_corpus",
    "train_embeddings",
]
