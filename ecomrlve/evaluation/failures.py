"""Why an episode failed, told from its record alone: no engine, no replay.

`causes` names the causes from a fixed vocabulary, the main one first, so that they can be counted over many episodes;
`tool_errors` and `tool_calls` count what an agent asked of the shop and was refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ecomrlve.agents.base import NO_ANSWER
from ecomrlve.episode import UNREADABLE
from ecomrlve.evaluation.failure_causes import vocabulary as cause
from ecomrlve.evaluation.failure_causes.accounts import policy_found, policy_mistakes, status_found, status_mistakes
from ecomrlve.evaluation.failure_causes.bundles import bundle_found, bundle_mistakes
from ecomrlve.evaluation.failure_causes.carts import cart_mistakes
from ecomrlve.evaluation.failure_causes.recommendations import list_found, list_mistakes
from ecomrlve.evaluation.failure_causes.record import Record
from ecomrlve.evaluation.failure_causes.returns import return_found, return_mistakes
from ecomrlve.evaluation.failure_causes.vocabulary import CAUSES, Mistake, mistake, summed_up
from ecomrlve.evaluation.failure_causes.wish import Wish

__all__ = ["CAUSES", "causes", "tool_calls", "tool_errors"]

_MISTAKES: dict[str, Callable[[Wish, Record], list[Mistake]]] = {
    "E_CART": cart_mistakes,
    "E_PD": list_mistakes,
    "E_SUB": list_mistakes,
    "E_BUNDLE": bundle_mistakes,
    "E_RETURN": return_mistakes,
    "E_STATUS": status_mistakes,
    "E_POLICY": policy_mistakes,
}
# Whether what was needed was ever shown, for wishes that got no answer. A cart is judged as it stands.
_FOUND: dict[str, Callable[[Wish, Record], bool]] = {
    "E_PD": list_found,
    "E_SUB": list_found,
    "E_BUNDLE": bundle_found,
    "E_RETURN": return_found,
    "E_STATUS": status_found,
    "E_POLICY": policy_found,
}


def causes(trajectory: Mapping[str, Any]) -> tuple[str, ...]:
    """The causes why an episode is not correct.

    The main cause is the one behind most of what is wrong. In a journey it is that of the first wish that failed.

    Args:
        trajectory: The record of an episode, as `Trajectory.to_dict` gives it or as it was stored.

    Returns:
        Keys of `CAUSES`, the main cause first; nothing for a correct episode. A record that is not complete, or not
        one of this program's, gives ``("other",)``.
    """
    try:
        if trajectory["reward"]["correct"] is True:
            return ()
        return tuple(_causes(trajectory)) or (cause.OTHER,)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        # Anything may be missing from, or misshapen in, a record that somebody else made.
        return (cause.OTHER,)


def tool_errors(trajectory: Mapping[str, Any]) -> dict[str, int]:
    """How often the shop refused a call, by the refusal's code."""
    results = (call.get("result") for call in _calls(trajectory))
    errors = (result.get("error") for result in results if isinstance(result, Mapping))
    return dict(Counter(str(error.get("code")) for error in errors if isinstance(error, Mapping)))


def tool_calls(trajectory: Mapping[str, Any]) -> dict[str, int]:
    """How often each tool was called, refused calls included."""
    return dict(Counter(str(call.get("name")) for call in _calls(trajectory)))


def _calls(trajectory: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All tool calls with their results; what is none is passed over."""
    steps = trajectory.get("steps")
    for step in steps if isinstance(steps, list) else ():
        results = step.get("tool_results") if isinstance(step, Mapping) else None
        yield from (call for call in (results if isinstance(results, list) else ()) if isinstance(call, Mapping))


def _causes(trajectory: Mapping[str, Any]) -> list[str]:
    """The causes for a record that is complete."""
    last = trajectory["steps"][-1]
    if last["canonical"] is None:
        action = last["action"]
        failed = isinstance(action, Mapping) and str(action.get(UNREADABLE, "")).startswith(NO_ANSWER)
        return [cause.NO_OUTPUT if failed else cause.INVALID]
    record = Record(trajectory)
    left = "quit" in ((last["customer"] or {}).get("acts") or ())
    found: list[str] = []
    for wish in record.wishes:
        if not wish.correct:
            found += _of_wish(wish, record, cause.LEFT if left else cause.TURNS)
    if len(record.wishes) > 1:
        found += _strays(record)
    if trajectory["reward"]["hallucination"] < 0:
        found.append(cause.MADE_UP)
    return list(dict.fromkeys(found))


def _of_wish(wish: Wish, record: Record, ending: str) -> tuple[str, ...]:
    """The causes why one wish failed, the main one first."""
    if not wish.raised:
        return (cause.UNFINISHED,)
    if wish.answer is not None:
        return summed_up(_MISTAKES[wish.env_id](wish, record)) or (cause.OTHER,)
    if wish.env_id == "E_CART":
        return (ending, *summed_up(cart_mistakes(wish, record)))
    return (ending,) if _FOUND[wish.env_id](wish, record) else (ending, cause.NOT_FOUND)


def _strays(record: Record) -> tuple[str, ...]:
    """Cart lines, returns and exchanges of a journey that belong to no wish.

    Where there is a wish for a cart, its own mistakes name the lines that nobody wanted.
    """
    kinds = {wish.env_id: wish for wish in record.wishes}
    meant = kinds["E_RETURN"].goal["line_id"] if "E_RETURN" in kinds else None
    found = [mistake({cause.EXTRA}) for _ in (record.cart() if "E_CART" not in kinds else ())]
    found += [mistake({cause.RETURN}) for made in record.returns() if made["line_id"] != meant]
    return summed_up(found)
