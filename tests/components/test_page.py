"""What a page carries for every visitor, and what every event on it costs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import app
from components.session import Shop


@pytest.fixture(scope="module")
def settings(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return app.build(Shop(lambda: words_engine), str(tmp_path_factory.mktemp("store"))).config


def test_the_settings_of_a_page_are_copied_at_once(settings: Any) -> None:
    """Gradio copies them for each visitor; with a component among them it would copy the Space, fail, and try parts."""
    assert copy.deepcopy(settings["components"]) == settings["components"]


def test_a_widget_has_no_attribute_for_what_its_script_quotes() -> None:
    from components.widgets.play_options import PlayOptions

    widget = PlayOptions({"agents": []})
    assert '"options"' in widget.js_on_load
    assert not hasattr(widget, "options")
    assert callable(widget.submit)


def test_no_event_tells_every_widget_of_progress_that_is_hidden(settings: Any) -> None:
    hidden = [event for event in settings["dependencies"] if event["show_progress"] == "hidden" and event["targets"]]
    assert len(hidden) > 20
    assert [event["api_name"] for event in hidden if event["show_progress_on"] != []] == []
