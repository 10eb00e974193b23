"""The Difficulty & curriculum tab: what d changes, how it sounds, and how training climbs it."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from components import curriculum_axes, curriculum_runs
from components.widgets.curriculum_learning import CurriculumLearning
from components.widgets.curriculum_run import CurriculumRun
from components.widgets.difficulty_axes import DifficultyAxes
from components.widgets.difficulty_openings import DifficultyOpenings

TITLE = "Difficulty & curriculum"
# The name in a link: `?tab=curriculum&d=6` opens the tab with the axes at d = 6.
NAME = "curriculum"


@dataclass(frozen=True)
class CurriculumTab:
    """The components of the tab that events touch."""

    axes: DifficultyAxes
    openings: DifficultyOpenings
    learning: CurriculumLearning
    run: CurriculumRun
    upload: gr.UploadButton


def build() -> CurriculumTab:
    """Lay the tab out."""
    axes = DifficultyAxes(curriculum_axes.axes(), elem_id="difficulty-axes")
    openings = DifficultyOpenings(curriculum_axes.waiting(), elem_id="difficulty-openings")
    learning = CurriculumLearning(
        curriculum_runs.learning(curriculum_runs.FIRST_LEARNER), elem_id="curriculum-learning"
    )
    with gr.Column(elem_classes="ec-runbox"):
        run = CurriculumRun(curriculum_runs.no_run(), elem_id="curriculum-run")
        upload = gr.UploadButton(
            "Upload a curriculum.jsonl", file_types=[".jsonl"], size="sm", scale=0, elem_id="curriculum-upload"
        )
    return CurriculumTab(axes, openings, learning, run, upload)
