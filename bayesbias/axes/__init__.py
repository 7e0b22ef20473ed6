"""Axes: pairs of opposites, and the places of words between them."""

from bayesbias.axes.angles import Angle, Quadrants, angle, quadrants
from bayesbias.axes.audits import Audit, audit
from bayesbias.axes.places import Axis, axis
from bayesbias.axes.poles import list_axes

__all__ = ["Angle", "Audit", "Axis", "Quadrants", "angle", "audit", "axis", "list_axes", "quadrants"]
