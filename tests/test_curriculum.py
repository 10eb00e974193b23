"""The curriculum: when windows move, what is drawn from them, and that a saved one goes on as if nothing had been."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.collections import COLLECTIONS
from ecomrlve.curriculum import (
    Curriculum,
    CurriculumError,
    Outcome,
    Schedule,
    StaticCurriculum,
    Window,
    schedule_from_dict,
)
from ecomrlve.difficulty import HIGHEST
from ecomrlve.errors import DifficultyError, UnknownEnvironmentError

ENVS = COLLECTIONS["C2"]
outcomes = st.builds(Outcome, st.sampled_from(ENVS), st.integers(0, HIGHEST), st.booleans())
# Mostly right, so that windows move: half of the batches promote.
good = st.builds(Outcome, st.just("E_CART"), st.just(0), st.just(True))
batches = st.lists(st.one_of(st.lists(outcomes, max_size=12), st.lists(good, max_size=6)), max_size=12)


def climb(schedule: Schedule, levels: int, env_id: str = "E_CART") -> None:
    """Master a number of difficulties."""
    for _ in range(levels):
        high = schedule.window(env_id).high
        schedule.finish_batch([Outcome(env_id, high, True)] * schedule.to_dict()["min_episodes"])


def at_high(correct: int, wrong: int, high: int = 0) -> list[Outcome]:
    return [Outcome("E_CART", high, number < correct) for number in range(correct + wrong)]


# --- when windows move -----------------------------------------------------------------------------------------------


def test_a_new_curriculum_is_at_the_easiest_everywhere() -> None:
    curriculum = Curriculum("C8")
    assert curriculum.env_ids == COLLECTIONS["C8"]
    assert {curriculum.window(env_id) for env_id in curriculum.env_ids} == {Window(0, 0)}


@pytest.mark.parametrize(("correct", "wrong", "high"), [(116, 12, 1), (115, 13, 0), (128, 0, 1), (0, 128, 0)])
def test_nine_in_ten_of_128_raise_the_window(correct: int, wrong: int, high: int) -> None:
    curriculum = Curriculum("E_CART")
    (progress,) = curriculum.finish_batch(at_high(correct, wrong))
    assert progress.decided
    assert progress.raised is (high == 1)
    assert curriculum.window("E_CART") == Window(0, high)


@pytest.mark.parametrize("size", range(10, 301, 10))
def test_exactly_nine_in_ten_is_enough_at_any_size(size: int) -> None:
    curriculum = Curriculum("E_CART", min_episodes=size)
    curriculum.finish_batch(at_high(size * 9 // 10, size // 10))
    assert curriculum.window("E_CART").high == 1


def test_too_few_episodes_decide_nothing_and_stay_on_record() -> None:
    curriculum = Curriculum("E_CART")
    (progress,) = curriculum.finish_batch(at_high(127, 0))
    assert not progress.decided
    (progress,) = curriculum.finish_batch(at_high(1, 0))
    assert progress.decided
    assert progress.raised
    assert (progress.episodes, progress.window) == (1, Window(0, 0))


def test_after_a_failed_decision_the_count_begins_anew() -> None:
    curriculum = Curriculum("E_CART", min_episodes=10)
    curriculum.finish_batch(at_high(0, 10))
    curriculum.finish_batch(at_high(9, 0))
    (progress,) = curriculum.finish_batch(at_high(1, 0))
    assert progress.raised


def test_after_a_promotion_the_count_begins_anew_at_the_new_height() -> None:
    curriculum = Curriculum("E_CART", min_episodes=10)
    climb(curriculum, 1)
    curriculum.finish_batch(at_high(9, 0, high=1))
    assert curriculum.window("E_CART").high == 1
    curriculum.finish_batch(at_high(1, 0, high=1))
    assert curriculum.window("E_CART").high == 2


@pytest.mark.parametrize("difficulty", [0, 1, 2, 4, 12])
def test_only_episodes_at_the_upper_end_count(difficulty: int) -> None:
    curriculum = Curriculum("E_CART", min_episodes=4)
    climb(curriculum, 3)
    (progress,) = curriculum.finish_batch([Outcome("E_CART", difficulty, True)] * 50)
    assert (progress.episodes, progress.success, progress.decided) == (0, None, False)


def test_one_batch_raises_by_one_however_large_it_is() -> None:
    curriculum = Curriculum("E_CART", min_episodes=8)
    curriculum.finish_batch(at_high(800, 0))
    assert curriculum.window("E_CART") == Window(0, 1)


def test_a_decision_is_made_on_the_whole_batch() -> None:
    """Else it would depend on which episodes finished first."""
    curriculum = Curriculum("E_CART", min_episodes=8)
    curriculum.finish_batch(at_high(8, 2))
    assert curriculum.window("E_CART").high == 0


def test_the_window_keeps_its_width_and_stops_at_twelve() -> None:
    curriculum = Curriculum("E_CART", min_episodes=2)
    windows = []
    for _ in range(15):
        windows.append(curriculum.window("E_CART"))
        climb(curriculum, 1)
    assert [low for low, _ in windows] == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]
    assert [high for _, high in windows] == [*range(13), 12, 12]


def test_at_the_top_the_count_begins_anew_as_well() -> None:
    curriculum = Curriculum("E_CART", min_episodes=2)
    climb(curriculum, HIGHEST)
    (progress,) = curriculum.finish_batch(at_high(2, 0, high=HIGHEST))
    assert (progress.decided, progress.raised) == (True, False)
    assert curriculum.to_dict()["environments"]["E_CART"]["episodes"] == 0


def test_environments_do_not_share_their_counts() -> None:
    curriculum = Curriculum(ENVS, min_episodes=4)
    first, second = curriculum.finish_batch([Outcome("E_CART", 0, True)] * 4 + [Outcome("E_SUB", 0, True)] * 3)
    assert (first.raised, second.raised) == (True, False)


@given(batches, st.integers(1, 12), st.floats(0.05, 1), st.integers(0, 12))
def test_windows_only_rise_and_are_never_too_wide(
    played: list[list[Outcome]], min_episodes: int, threshold: float, width: int
) -> None:
    curriculum = Curriculum(ENVS, min_episodes=min_episodes, threshold=threshold, width=width)
    for batch in played:
        before = {env_id: curriculum.window(env_id) for env_id in ENVS}
        for progress in curriculum.finish_batch(batch):
            low, high = curriculum.window(progress.env_id)
            assert progress.window == before[progress.env_id]
            assert 0 <= high - progress.window.high <= 1
            assert high == progress.window.high + progress.raised <= HIGHEST
            assert low == max(progress.window.low, high - width) <= high
            assert progress.decided >= progress.raised


# --- batches, ranks and saved states ---------------------------------------------------------------------------------


@given(batches, st.randoms(use_true_random=False), st.integers(1, 8))
def test_two_ranks_fed_the_same_batches_in_any_order_agree(
    played: list[list[Outcome]], random: Any, min_episodes: int
) -> None:
    one, other = (Curriculum(ENVS, min_episodes=min_episodes, threshold=0.6, seed=5) for _ in range(2))
    for step, batch in enumerate(played):
        shuffled = list(batch)
        random.shuffle(shuffled)
        assert one.finish_batch(batch) == other.finish_batch(shuffled)
        assert one.to_dict() == other.to_dict()
        assert [one.draw(env_id, step, slot) for env_id in ENVS for slot in range(4)] == [
            other.draw(env_id, step, slot) for env_id in ENVS for slot in range(4)
        ]


@given(batches, st.data(), st.integers(1, 8))
def test_a_curriculum_saved_in_the_middle_of_a_batch_goes_on_as_if_nothing_had_been(
    played: list[list[Outcome]], data: st.DataObject, min_episodes: int
) -> None:
    straight = Curriculum(ENVS, min_episodes=min_episodes, threshold=0.6, seed=3)
    saved: Schedule = Curriculum(ENVS, min_episodes=min_episodes, threshold=0.6, seed=3)
    for step, batch in enumerate(played):
        stop = data.draw(st.integers(0, len(batch)))
        for outcome in batch:
            straight.record(*outcome)
        for outcome in batch[:stop]:
            saved.record(*outcome)
        saved = schedule_from_dict(json.loads(json.dumps(saved.to_dict())))
        for outcome in batch[stop:]:
            saved.record(*outcome)
        assert saved.decide() == straight.decide()
        assert saved.to_dict() == straight.to_dict()
        assert saved.draw("E_SUB", step, 1) == straight.draw("E_SUB", step, 1)


def test_a_batch_with_one_bad_outcome_counts_nothing() -> None:
    curriculum = Curriculum("E_CART")
    before = curriculum.to_dict()
    with pytest.raises(CurriculumError, match="E_PD"):
        curriculum.finish_batch([*at_high(5, 0), Outcome("E_PD", 0, True)])
    assert curriculum.to_dict() == before


def test_the_state_that_was_handed_out_is_a_copy() -> None:
    curriculum = Curriculum("E_CART")
    curriculum.to_dict()["environments"]["E_CART"]["high"] = 12
    assert curriculum.window("E_CART").high == 0
    state = curriculum.to_dict()
    schedule = Curriculum.from_dict(state)
    state["environments"]["E_CART"]["high"] = 12
    assert schedule.window("E_CART").high == 0


SPOILED: list[tuple[str, Any, str]] = [
    ("version", 2, "version"),
    ("kind", "other", "kind"),
    ("seed", -1, "seed"),
    ("seed", "0", "seed"),
    ("seed", True, "seed"),
    ("threshold", 1.5, "threshold"),
    ("threshold", float("nan"), "threshold"),
    ("min_episodes", 0, "min_episodes"),
    ("width", 13, "width"),
    ("environments", {}, "environments"),
    ("environments", [], "environments"),
    ("environments", {"E_CART": {"low": 3, "high": 2}}, "above"),
    ("environments", {"E_CART": {"low": 0, "high": 13}}, "high"),
    ("environments", {"E_CART": {"low": 0, "high": 5}}, "wider than 4"),
    ("environments", {"E_CART": {"low": 0, "high": 0, "episodes": 3, "successes": 4}}, "more successes"),
    ("environments", {"E_CART": {"low": 0, "high": 0, "episodes": 128}}, "128 episodes"),
    ("environments", {"E_CART": {"low": 0, "high": 0, "mood": 1}}, "mood"),
    ("more", 1, "more"),
]


@pytest.mark.parametrize(("name", "value", "said"), SPOILED)
def test_a_state_that_no_curriculum_can_have_is_refused(name: str, value: Any, said: str) -> None:
    state = {**Curriculum("E_CART").to_dict(), name: value}
    with pytest.raises(CurriculumError, match=said):
        schedule_from_dict(state)


@pytest.mark.parametrize("data", [None, [], "adaptive", {}, {"kind": "adaptive"}, {"kind": ["adaptive"]}])
def test_what_is_no_state_at_all_is_refused(data: Any) -> None:
    with pytest.raises(CurriculumError):
        schedule_from_dict(data)


def test_a_state_of_another_kind_or_with_an_unknown_environment_is_refused() -> None:
    with pytest.raises(CurriculumError, match="kind"):
        Curriculum.from_dict(StaticCurriculum("E_CART", 3).to_dict())
    with pytest.raises(UnknownEnvironmentError, match="E_ELSE"):
        Curriculum.from_dict({**Curriculum("C1").to_dict(), "environments": {"E_ELSE": {"low": 0, "high": 0}}})


# --- draws and records -----------------------------------------------------------------------------------------------


def test_a_draw_depends_on_its_arguments_the_seed_and_the_window_alone() -> None:
    one, other = Curriculum(ENVS, min_episodes=2, seed=1), Curriculum(ENVS, min_episodes=2, seed=1)
    climb(one, 6)
    climb(other, 6)
    wanted = [("E_CART", step, slot) for step in range(20) for slot in range(4)]
    drawn = [one.draw(*key) for key in wanted]
    assert [other.draw(*key) for key in reversed(wanted)] == drawn[::-1]
    assert drawn != [StaticCurriculum("E_CART", (2, 6), seed=2).draw(*key) for key in wanted]
    assert drawn == [StaticCurriculum("E_CART", (2, 6), seed=1).draw(*key) for key in wanted]


def test_a_draw_takes_numbers_of_numpy_for_what_they_are() -> None:
    import numpy as np

    schedule = StaticCurriculum("E_CART", (0, 12))
    for step in range(20):
        assert schedule.draw("E_CART", np.int64(step), np.int32(3)) == schedule.draw("E_CART", step, 3)


def test_all_of_the_window_is_drawn_equally_often() -> None:
    curriculum = Curriculum("E_CART", min_episodes=2)
    climb(curriculum, 6)
    counts = Counter(curriculum.draw("E_CART", step, slot) for step in range(500) for slot in range(10))
    assert sorted(counts) == [2, 3, 4, 5, 6]
    # Each has a mean of 1,000 with a standard deviation of 28.
    assert all(880 < count < 1120 for count in counts.values())


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (("E_PD", 0, True), CurriculumError),
        ((["E_CART"], 0, True), CurriculumError),
        (("E_CART", 13, True), DifficultyError),
        (("E_CART", True, True), DifficultyError),
        (("E_CART", 0, 1), CurriculumError),
        (("E_CART", 0, 0.9), CurriculumError),
        (("E_CART", 0, None), CurriculumError),
    ],
)
def test_an_outcome_that_means_nothing_is_refused(outcome: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Curriculum("E_CART").record(*outcome)


@given(st.lists(outcomes, max_size=20))
def test_episodes_of_one_difficulty_can_be_recorded_at_once(played: list[Outcome]) -> None:
    one, other = Curriculum(ENVS), Curriculum(ENVS)
    for env_id in ENVS:
        for d in range(HIGHEST + 1):
            correct = [outcome.correct for outcome in played if outcome[:2] == (env_id, d)]
            one.record_many(env_id, d, correct)
    for outcome in played:
        other.record(*outcome)
    assert one.to_dict() == other.to_dict()
    with pytest.raises(CurriculumError):
        one.record_many("E_CART", 0, [True, True, 1])
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    "settings",
    [{"min_episodes": 0}, {"min_episodes": 1.5}, {"threshold": 0}, {"threshold": 1.1}, {"width": -1}, {"seed": -1}],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(CurriculumError, match=name):
        Curriculum("E_CART", **settings)
    with pytest.raises(UnknownEnvironmentError):
        Curriculum("E_NONE")


# --- the schedule that never moves -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("difficulty", "window"), [(0, (0, 0)), (12, (12, 12)), ((3, 6), (3, 6)), ([3, 6], (3, 6))])
def test_a_static_curriculum_stays_where_it_is(difficulty: Any, window: tuple[int, int]) -> None:
    schedule = StaticCurriculum(ENVS, difficulty)
    (progress, _) = schedule.finish_batch([Outcome("E_CART", window[1], True)] * 500)
    assert (progress.episodes, progress.success, progress.decided, progress.raised) == (500, 1.0, False, False)
    assert schedule.window("E_CART") == window
    drawn = {schedule.draw("E_CART", step, 0) for step in range(100)}
    assert drawn == set(range(window[0], window[1] + 1))
    assert schedule_from_dict(schedule.to_dict()).to_dict() == schedule.to_dict()


@pytest.mark.parametrize("difficulty", [13, (3,), (1, 2, 3), (6, 3), "3", None, (0, 13), 1.0])
def test_a_static_curriculum_of_no_difficulties_is_refused(difficulty: Any) -> None:
    with pytest.raises((CurriculumError, DifficultyError)):
        StaticCurriculum("E_CART", difficulty)
