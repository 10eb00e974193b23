"""Our episodes as an environment of SkyRL, which trains on Ray over many machines (skyrl-gym 0.4).

A model's text is one turn, and what comes back are chat messages: the results of its calls and the customer's words,
as in evaluation. The reward is the engine's, at the end. Text that is no action ends the episode with −1.

SkyRL's chat templates are given no tools, so these stand in the system message, in the dialect ``hermes`` (for models
that write ``<tool_call>`` blocks and whose template knows tool messages, such as Qwen's) or ``json`` (for all others).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecomrlve.adapters._episodes import shared_engine
from ecomrlve.adapters._text_episode import TextEpisode
from ecomrlve.adapters._text_rows import ENV_CLASS, rows, write_rows
from ecomrlve.errors import EcomrlveError, OptionError


class SkyRLMissingError(EcomrlveError, ImportError):
    """SkyRL's environments are not installed."""


try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as error:
    raise SkyRLMissingError(f"{error}: the adapter for SkyRL needs pip install skyrl-gym==0.4.0") from error

__all__ = ["ENV_CLASS", "EcomTextEnv", "SkyRLMissingError", "register", "rows", "write_rows"]

SETTINGS = ("catalog", "words_only", "dialect")


class EcomTextEnv(BaseTextEnv):
    """One episode. SkyRL makes an instance for each rollout.

    Args:
        env_config: What SkyRL's configuration says about this environment; it is not used.
        extras: The row's other columns: ``env_id``, ``difficulty``, ``seed``, maybe ``overrides``; SkyRL adds
            ``max_turns``.
        settings: What `register` was called with.
    """

    def __init__(
        self,
        env_config: Any = None,
        extras: Mapping[str, Any] | str | None = None,
        settings: Mapping[str, Any] | None = None,
    ):
        super().__init__()
        self._extras = extras if extras is not None else {}
        self._settings = dict(settings or {})

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Start the episode.

        Args:
            prompt: The row's prompt. It is replaced by the episode's own, which is the same unless it was edited.

        Returns:
            The system message with the customer's opening, and ``{"env_id", "difficulty", "seed"}``.

        Raises:
            OptionError: Extras or settings lack something, or have an unknown name.
            UnknownEnvironmentError: There is no such environment.
            GenerationError: The catalog supports no such problem.
        """
        settings = self._settings
        # Here and not in the constructor: SkyRL calls this one off its event loop, and an engine may have to be built.
        engine = shared_engine(settings.get("catalog"), words_only=settings.get("words_only", False))
        self._episode = TextEpisode(self._extras, engine, settings.get("dialect", "hermes"))
        self.turns = 0
        return self._episode.begin()

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take one turn.

        Args:
            action: The model's text.

        Returns:
            ``observations``, ``reward`` (0.0 until the end), ``done``, and ``metadata``: which episode it is, at the
            end also whether it is ``correct``, the ``parts`` of its reward and the ``reason``.
        """
        taken = self._episode.step(action)
        self.turns += 1
        return BaseTextEnvStepOutput(
            observations=taken.messages, reward=taken.reward, done=taken.done, metadata=taken.facts
        )

    def get_metrics(self) -> dict[str, float]:
        """Figures of the episode; SkyRL averages them over episodes."""
        return self._episode.metrics()


def register(name: str = ENV_CLASS, **settings: Any) -> None:
    """Make the environment known to SkyRL in this process, under the name that rows have as their ``env_class``.

    Args:
        name: The name.
        settings: ``catalog`` (None for the default one, or a path), ``words_only`` (search without vectors) and
            ``dialect`` (``hermes`` or ``json``).

    Raises:
        OptionError: A setting is unknown.
    """
    import skyrl_gym

    for setting in settings:
        if setting not in SETTINGS:
            raise OptionError(f"there is no setting {setting!r}; settings are {', '.join(SETTINGS)}")
    skyrl_gym.register(id=name, entry_point=f"{__name__}:EcomTextEnv", kwargs={"settings": settings})
