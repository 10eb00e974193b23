"""Simulated learners under three schedules."""

from __future__ import annotations

from components.widgets.base import Widget


class CurriculumLearning(Widget):
    """Choices are sent to the server; running through the steps happens in the browser."""

    frame = "ec-learning"
    script = "curriculum_learning.js"
