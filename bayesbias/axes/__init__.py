"""Axes: pairs of opposites, and the places of words between them."""

from bayesbias.axes.audits import Audit, audit
from bayesbias.axes.places import Axis, axis
from bayesbias.vectors.poles import list_axes

__all__ = ["Audit", "Axis", "audit", "axis", "list_axes"]
