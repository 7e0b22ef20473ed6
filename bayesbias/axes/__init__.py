"""Axes: pairs of opposites, and the places of words between them."""

from bayesbias.axes.audits import Audit, audit
from bayesbias.axes.places import Axis, axis
from bayesbias.axes.poles import list_axes
from bayesbias.axes.angles import Angle, Quadrants, angle, quadrants

__all__ = ["Angle", "Audit", "Axis", "Quadrants", "angle", "audit", "axis", "list_axes", "quadrants"]
