"""Axes: pairs of opposites, and the places of words between them."""

from bayesbias.axes.angles import Angle, Intersections, Quadrants, angle, intersections, quadrants
from bayesbias.axes.audits import Audit, audit
from bayesbias.axes.places import Axis, axis
from bayesbias.vectors.poles import list_axes

__all__ = [
    "Angle",
    "Audit",
    "Axis",
    "Intersections",
    "Quadrants",
    "angle",
    "audit",
    "axis",
    "intersections",
    "list_axes",
    "quadrants",
]
