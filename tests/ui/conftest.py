"""Fixtures of the browser tests: the real Space on a free local port, over a small catalog, and a real Chromium."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tabs import PATIENCE, Tabs
from ui_space import ARGUMENTS, CHROMIUM, Server, Space, hostile_engine, serve


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def server(words_engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = serve(words_engine, tmp_path_factory.mktemp("trajectories"))
    yield running
    running.demo.close()


@pytest.fixture(scope="session")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Space whose product titles try everything that could run."""
    running = serve(hostile_engine(), tmp_path_factory.mktemp("hostile"))
    yield running
    running.demo.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium found; set CHROMIUM to its path")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        sync_api.expect.set_options(timeout=PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def tab(tabs: Tabs, server: Server) -> Iterator[Space]:
    yield from _tab(tabs, server)


@pytest.fixture
def hostile_tab(tabs: Tabs, hostile_server: Server) -> Iterator[Space]:
    yield from _tab(tabs, hostile_server)


def _tab(tabs: Tabs, server: Server) -> Iterator[Space]:
    with tabs.lend() as page, Space(page, server) as space:
        yield space
