"""Nothing that the server sends before the end tells more than the customer and the tools have told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from ui_space import LISTENER, Server, Space, reference_episode

import ecomrlve
from ecomrlve.collections import COLLECTIONS

IDS = re.compile(r"\b[a-z][0-9a-hjkmnp-tv-z]{7}\b")


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def untold(record: dict[str, Any], told: str, turn: int) -> tuple[set[str], set[str]]:
    """Ids of the goal that no message has named yet, and requirements that the customer has not said by a turn."""
    ids = set(IDS.findall(text_of(record["goal"]))) - set(IDS.findall(told))
    unsaid = {
        slot["text"]
        for slot in record["ledger"]
        if slot["text"] and not any(saying["turn"] <= turn for saying in slot["said"])
    }
    return ids, unsaid


@pytest.mark.parametrize("env_id", COLLECTIONS["C8"])
def test_no_payload_tells_more_than_was_told(browser: Any, server: Server, env_id: str) -> None:
    turns, _, record = reference_episode(server.engine, env_id, 6, 7)
    twin = ecomrlve.make(env_id, catalog=server.engine)
    observation, _ = twin.reset(seed=7, options={"difficulty": 6})
    told = text_of(observation.messages)
    context = browser.new_context()
    context.add_init_script(LISTENER)
    space = Space(context.new_page(), server)
    space.open(f"env={env_id}&d=6&seed=7", version=1)
    looked_at = 0
    for turn, (wish, action) in enumerate(turns):
        ids, unsaid = untold(record, told, turn)
        sent = space.page.evaluate("window.sent")
        assert not ids & set(IDS.findall(sent))
        assert not [text for text in unsaid if text in sent or text_of(text)[1:-1] in sent]
        assert '"ledger"' not in sent
        assert '\\"ledger\\"' not in sent
        looked_at += len(ids) + len(unsaid)
        observation, _, terminated, truncated, _ = twin.step(action)
        told += text_of(observation.messages)
        if not (terminated or truncated):
            space.take(action, wish if env_id == "E_JOURNEY" else "")
    assert looked_at
    assert not space.problems
    space.take(turns[-1][1], turns[-1][0] if env_id == "E_JOURNEY" else "")
    # The same look finds the goal as soon as the episode is over: it has been looking where it is.
    space.page.wait_for_function("() => /what the customer said/i.test(window.sent)")
    context.close()
