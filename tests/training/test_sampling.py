"""Dynamic sampling: groups without variance are replaced, what is left of them is masked, and everything is counted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from scripted_turns import BAD, GOOD, LONG, Choose, Tongue, Watched

from ecomrlve.curriculum import Curriculum
from ecomrlve.errors import GenerationError
from ecomrlve.training.config import config_of
from ecomrlve.training.processes import Alone
from ecomrlve.training.rollouts import Rollout, Turn


@pytest.fixture
def sampler(words_engine: Any, tiny_chats: Any, tiny_tokenizer: Any) -> Any:
    def make(choose: Choose, processes: Any = None, **changes: Any) -> Watched:
        settings = {
            "model": "x", "prompts_per_batch": 3, "group_size": 2, "context_tokens": 10**6, "turn_tokens": 1000,
            "own_tokens": 10**5, "min_episodes": 1000, "most_rounds": 3,
        }  # fmt: skip
        tongue = Tongue(tiny_tokenizer)
        return Watched(config_of(settings | changes), words_engine, tiny_chats, tongue, choose, processes or Alone())

    return make


def half(around: int, place: int, one: Rollout) -> str:
    return GOOD if place % 2 else BAD


def all_well(around: int, place: int, one: Rollout) -> str:
    return GOOD


def test_a_batch_with_variance_takes_one_round(sampler):
    one = sampler(half)
    batch = one.sample(0, one.generate)
    assert (batch.rounds, batch.groups, batch.flat_groups, batch.masked_groups) == (1, 3, 0, 0)
    assert list(batch.kept) == [True] * 6
    assert [rollout.reward.correct for rollout in batch.rollouts] == [False, True] * 3


def test_members_of_a_group_play_the_same_problem_and_groups_others(sampler):
    one = sampler(half, envs="C8", prompts_per_batch=8, schedule="static", static_high=12)
    batch = one.sample(0, one.generate)
    rows = [rollout.row for rollout in batch.rollouts]
    assert rows[::2] == rows[1::2]
    assert len(set(rows)) == 8
    assert {row.env_id for row in rows} == set(one.config.env_ids)
    openings = [rollout.prompt for rollout in batch.rollouts]
    assert openings[::2] == openings[1::2]


def test_groups_without_variance_are_drawn_anew(sampler):
    one = sampler(lambda around, place, _: GOOD if around == 0 else half(around, place, _))
    batch = one.sample(0, one.generate)
    assert (batch.rounds, batch.groups, batch.flat_groups, batch.masked_groups) == (2, 6, 3, 0)
    assert all(batch.kept)
    first = {entry[2].row for entry in one.made if entry[0] == 0}
    assert not first & {rollout.row for rollout in batch.rollouts}, "the new groups play other problems"


def test_only_the_groups_without_variance_are_replaced(sampler):
    def choose(around: int, place: int, one: Rollout) -> str:
        return GOOD if around == 0 and one.row == sampler_one.made[0][2].row else half(around, place, one)

    sampler_one = sampler(choose)
    batch = sampler_one.sample(0, sampler_one.generate)
    assert (batch.rounds, batch.groups, batch.flat_groups) == (2, 4, 1)
    kept = [entry[2] for entry in sampler_one.made if entry[0] == 0][2:]
    assert list(batch.rollouts[2:]) == kept


def test_what_stays_without_variance_is_masked_after_the_last_round(sampler):
    one = sampler(all_well)
    batch = one.sample(0, one.generate)
    assert (batch.rounds, batch.groups, batch.flat_groups, batch.masked_groups) == (3, 9, 9, 3)
    assert list(batch.kept) == [False] * 6


def test_without_dynamic_sampling_there_is_one_round_and_no_mask(sampler):
    one = sampler(all_well, dynamic_sampling=False)
    batch = one.sample(0, one.generate)
    assert (batch.rounds, batch.groups, batch.flat_groups, batch.masked_groups) == (1, 3, 3, 0)
    assert list(batch.kept) == [True] * 6


def test_the_curriculum_counts_every_rollout_of_every_round(sampler):
    """Groups in which all went well are replaced, but they are what mastery looks like."""
    one = sampler(lambda around, place, _: GOOD if around == 0 else half(around, place, _))
    one.sample(0, one.generate)
    tally = one.schedule.to_dict()["environments"]["E_CART"]
    assert (tally["episodes"], tally["successes"]) == (12, 9)


def test_mastery_raises_the_window_though_nothing_is_learned_from(sampler):
    one = sampler(all_well, min_episodes=18)
    batch = one.sample(0, one.generate)
    assert batch.masked_groups == 3
    assert one.schedule.window("E_CART") == (0, 1)
    assert [progress.raised for progress in batch.progress] == [True]


def test_a_difference_in_length_alone_is_no_variance(sampler):
    """Else the whole advantage would be about length."""
    wordy = iter(range(100))

    class Wordy(Tongue):
        def turn(self, text: str, *, finished: bool = True) -> Turn:
            return super().turn(text + "!" * next(wordy), finished=finished)

    one = sampler(lambda *_: BAD, overlong_buffer=10**5)
    one.tongue = Wordy(one.tongue.tokenizer)
    batch = one.sample(0, one.generate)
    assert len(set(batch.rewards)) > 1
    assert batch.masked_groups == 3


def test_overlong_rollouts_are_left_out_of_the_loss_but_count(sampler):
    def choose(around: int, place: int, one: Rollout) -> str:
        return GOOD if place else LONG

    one = sampler(choose)
    batch = one.sample(0, one.generate)
    assert list(batch.kept) == [False, True] * 3
    assert one.schedule.to_dict()["environments"]["E_CART"]["episodes"] == 6
    loose = sampler(choose, overlong_filtering=False)
    assert all(loose.sample(0, loose.generate).kept)


def test_the_reward_has_the_punishment_for_length(sampler):
    strict = sampler(half, own_tokens=100_000, overlong_buffer=100_000, overlong_weight=0.5)
    batch = strict.sample(0, strict.generate)
    for rollout, reward in zip(batch.rollouts, batch.rewards, strict=True):
        assert reward == pytest.approx(rollout.reward.total - 0.5 * rollout.own_tokens / 100_000)
    free = sampler(half, own_tokens=100_000, overlong_buffer=100_000, overlong_weight=0)
    batch = free.sample(0, free.generate)
    assert list(batch.rewards) == [rollout.reward.total for rollout in batch.rollouts]


def test_a_seed_without_a_problem_is_passed_over(sampler, monkeypatch):
    one = sampler(half)
    wanted = one._rollout(0, 0).row.seed
    one.made.clear()
    environment = "ecomrlve.training.rollouts.Environment.reset"
    from ecomrlve.environment import Environment

    reset = Environment.reset

    def refuse(self: Any, *, seed: int, options: Any) -> Any:
        if seed == wanted:
            raise GenerationError("nothing there")
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(environment, refuse)
    batch = one.sample(0, one.generate)
    rows = [rollout.row for rollout in batch.rollouts]
    assert rows[0] == rows[1]
    assert rows[0].seed != wanted
    monkeypatch.setattr(environment, lambda *_, **__: (_ for _ in ()).throw(GenerationError("nothing at all")))
    with pytest.raises(GenerationError, match="E_CART"):
        one.sample(1, one.generate)


class Ranks:
    """Two processes as two threads, which meet where processes would."""

    def __init__(self, count: int):
        self.count = count
        self.barrier = threading.Barrier(count, timeout=300)
        self.values: list[Any] = [None] * count

    def of(self, rank: int) -> Any:
        ranks = self

        class One:
            count = ranks.count

            def __init__(self) -> None:
                self.rank = rank

            def gathered(self, values: Sequence[Any]) -> list[Any]:
                ranks.values[rank] = list(values)
                ranks.barrier.wait()
                found = [value for one in ranks.values for value in one]
                ranks.barrier.wait()
                return found

            def most(self, number: int) -> int:
                return max(self.gathered([number]))

        return One()


def test_two_processes_share_groups_rounds_and_the_curriculum(sampler):
    """Groups of three over two processes of three places each: the second group lies on both."""

    def choose(around: int, place: int, one: Rollout) -> str:
        return GOOD if around == 0 or place % 2 else BAD

    ranks = Ranks(2)
    made = [
        sampler(choose, ranks.of(rank), prompts_per_batch=2, group_size=3, min_episodes=6, most_rounds=2)
        for rank in range(2)
    ]
    batches: list[Any] = [None, None]

    def work(rank: int) -> None:
        batches[rank] = made[rank].sample(0, made[rank].generate)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = batches
    assert len(first.rollouts) == len(second.rollouts) == 3
    rows = [rollout.row for batch in batches for rollout in batch.rollouts]
    assert rows[0] == rows[1] == rows[2] != rows[3] == rows[4] == rows[5]
    assert made[0].schedule.to_dict() == made[1].schedule.to_dict()
    assert isinstance(made[0].schedule, Curriculum)
    assert first.finished == second.finished
    assert len(first.finished) == 12
    assert (first.rounds, first.groups, first.masked_groups) == (second.rounds, second.groups, second.masked_groups)
