from __future__ import annotations

import pytest

from components.api_episodes import ApiError, Episodes, RemoteEpisode


class Clock:
    """A time that only goes on when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def new() -> RemoteEpisode:
    return RemoteEpisode(environment=None)


def test_an_episode_lives_as_long_as_somebody_comes_back() -> None:
    clock = Clock()
    episodes = Episodes(idle_seconds=60, clock=clock)
    played, forgotten = episodes.add(new()), episodes.add(new())
    clock.now = 50
    episodes.find(played)
    clock.now = 70
    assert episodes.find(played)
    with pytest.raises(ApiError, match="idle for 1 minutes"):
        episodes.find(forgotten)
    assert len(episodes) == 1
    clock.now = 131
    assert len(episodes) == 0


def test_where_it_is_full_the_one_goes_that_was_idle_for_longest() -> None:
    episodes = Episodes(most=3)
    tokens = [episodes.add(new()) for _ in range(3)]
    episodes.find(tokens[0])
    tokens.append(episodes.add(new()))
    assert len(episodes) == 3
    with pytest.raises(ApiError):
        episodes.find(tokens[1])
    assert all(episodes.find(tokens[number]) for number in (0, 2, 3))
