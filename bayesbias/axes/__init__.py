"""Axes: pairs of opposites, and the places of words between them."""

from bayesbias.axes.audits import Audit, audit
from bayesbias.axes.places import Axis, axis

__all__ = ["Audit", "Axis", "audit", "axis"]
