from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.episode import YOU, player_of
from components.leaderboard_names import Names, NicknameError, Visitor, check_nickname, folded, players_in, with_names

AGENTS = ("reference", "scripted", "http://a.model:8000/v1")


@pytest.fixture
def names(tmp_path: Path) -> Names:
    return Names(tmp_path / "board" / "names.json")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Ann", "Ann"),
        ("  Ann   of  Zürich ", "Ann of Zürich"),
        ("Ann\nBob", "Ann Bob"),
        ("Максим", "Максим"),
        ("小明", "小明"),
        ("अनीता", "अनीता"),
        ("ﬁve", "five"),
        ("o'Neil-2", "o'Neil-2"),
        ("x" * 24, "x" * 24),
    ],
)
def test_a_nickname_has_one_spelling(typed: str, name: str) -> None:
    assert check_nickname(typed, AGENTS) == name


@pytest.mark.parametrize(
    "typed",
    [
        None, 5, ["Ann"], "", "A", "   ", "x" * 25, "--", "-Ann", "@ann", "Ann (again)", "scripted, then Ann",
        "Ann, guided", "<b>Ann</b>", "${alert(1)}", "{{value}}", "Ann\u202eB", "An\u200bn", "a\u0301" * 40,
        "Аnn", "Ann\x00", "\ud800\ud800", "😀😀", "you", "Y o u", "SCRIPTED", "s.c.r.i.p.t.e.d", "réference", "A.P.I",
        "Tom and Ann", "http a model 8000 v1",
    ],
)  # fmt: skip
def test_a_nickname_that_misleads_or_runs_is_refused(typed: object) -> None:
    with pytest.raises(NicknameError):
        check_nickname(typed, AGENTS)


@given(st.text(max_size=40))
def test_any_text_is_a_nickname_or_refused(text: str) -> None:
    try:
        name = check_nickname(text)
    except NicknameError:
        return
    assert check_nickname(name) == name
    assert name.isprintable()
    assert 2 <= len(name) <= 72
    assert players_in(name, "human") == ([name], ", then ", "")


def test_a_name_is_its_owner_s(names: Names, tmp_path: Path) -> None:
    ann = names.join(Visitor("Ann"), AGENTS)
    assert (ann.name, names.status(ann), names.keeps("Ann")) == ("Ann", "on", True)
    assert len(ann.key) >= 32
    for thief in (Visitor("Ann"), Visitor("ann"), Visitor("A-nn", "x" * 32), Visitor("Änn"), Visitor("Ann", "\ud800")):
        with pytest.raises(NicknameError, match="taken"):
            names.join(thief, AGENTS)
        for act in (names.stop, names.forget):
            with pytest.raises(NicknameError):
                act(thief)
    assert names.status(Visitor("Ann", "x")) == "taken"
    assert names.status(Visitor("Bob")) == "none"
    assert ann.key not in (tmp_path / "board" / "names.json").read_text()


def test_a_restart_keeps_names(names: Names, tmp_path: Path) -> None:
    ann, bob = names.join(Visitor("Ann")), names.join(Visitor("Bob"))
    names.stop(bob)
    again = Names(tmp_path / "board" / "names.json")
    assert (again.status(ann), again.status(bob)) == ("on", "off")
    assert again.listed() == {"Ann", "Bob"}
    assert not again.keeps("Bob")
    assert again.join(bob) == bob
    assert again.keeps("Bob")
    again.forget(ann)
    assert Names(tmp_path / "board" / "names.json").listed() == {"Bob"}
    assert again.join(Visitor("ann")).key != ann.key


def test_a_name_from_hugging_face_needs_no_key_and_no_nickname_can_be_it(names: Names) -> None:
    ann = names.join(Visitor("@a-b", signed_in=True), AGENTS)
    assert names.status(ann) == "on"
    assert names.status(Visitor("@a-b", "")) == "taken"
    assert names.join(Visitor("@ab", signed_in=True)).name == "@ab"
    assert names.join(Visitor("ab")).name == "ab"
    with pytest.raises(NicknameError):
        names.join(Visitor("@other"))
    names.forget(ann)
    assert names.listed() == {"@ab", "ab"}


def test_a_broken_file_of_names_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "names.json"
    for content in ('{"ann": ', '{"ann": {"what": 1}}', "[1]"):
        file.write_text(content)
        names = Names(file)
        assert "names.json" in names.problem
        with pytest.raises(NicknameError):
            names.join(Visitor("Bob"))
        assert file.read_text() == content


def test_a_name_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "board").write_text("a file where the folder should be")
    names = Names(tmp_path / "board" / "names.json")
    with pytest.raises(NicknameError, match="could not be stored"):
        names.join(Visitor("Ann"))
    assert not names.listed()


def test_there_is_a_last_name(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.leaderboard_names.MOST_NAMES", 1)
    ann = names.join(Visitor("Ann"))
    with pytest.raises(NicknameError, match="no more"):
        names.join(Visitor("Bob"))
    assert names.join(ann) == ann


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize(
    "players",
    [
        [YOU],
        ["scripted", YOU],
        [YOU, "scripted", YOU],
        [YOU, "scripted", YOU, "scripted"],
        ["scripted", "reference", YOU, "scripted"],
    ],
)
def test_everybody_in_the_name_of_a_record_is_found(players: list[str], guided: bool, again: bool) -> None:
    name, kind = player_of(players, "Ann-B", guided=guided, again=again)
    found, _, _ = players_in(name, kind)
    assert set(found) == {"Ann-B" if player == YOU else player for player in players}
    expected, _ = player_of(players, YOU, guided=guided, again=again)
    assert with_names(name, kind, lambda one: YOU if one == "Ann-B" else one) == expected


def test_names_of_the_file_are_plain_json(names: Names, tmp_path: Path) -> None:
    names.join(Visitor("Zoë"))
    stored = json.loads((tmp_path / "board" / "names.json").read_text(encoding="utf-8"))
    assert list(stored) == [folded("Zoe")]
    assert set(stored[folded("Zoë")]) == {"name", "key_digest", "keeps", "since"}
