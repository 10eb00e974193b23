"""What the customer does next: deterministic rules over the ledger and the world. Language is only put on top.

The rules, in the order in which they speak in one reply: a change of mind that is due; what was asked for; what is
wrong; otherwise a confirmation, something volunteered, or small talk. Two things are said unasked: the fallback of an
item that a tool result shows or refuses as sold out, and, when two turns remain, everything still unsaid.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ecomrlve.customer.grammar import Grammar, join
from ecomrlve.customer.ledger import HEADS, Ledger, Slot
from ecomrlve.customer.noise import add_noise
from ecomrlve.customer.persona import Persona
from ecomrlve.customer.understanding import Understanding, understand
from ecomrlve.streams import Stream

PER_QUESTION = 3  # slots one reply reveals to questions about them
PER_OPEN_QUESTION = 2
COMPLAINTS_PER_REPLY = 2
CORRECTIONS_BEFORE_GIVING_UP = 3
TURNS_WITHOUT_PROGRESS = 3
ONE_OF_IT = ("Just one of that, please.", "One is enough of that one.", "Only one of it, thanks.")
ONE_OF_EACH = (
    "One of each is enough, unless I said otherwise.",
    "Just one of each, where I named no other number.",
    "A single one of each, except where I told you a number.",
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something the customer sees to be wrong.

    Attributes:
        subject: What it is about; repeated complaints about one subject wear out the customer's patience.
        facts: What the grammar's act `correct` needs.
        keys: Slots that saying it gives away.
        item_name: How the customer calls the item, for giving it up.
        badness: How far from right it is; less than at the last complaint means that it got better.
    """

    subject: str
    facts: Mapping[str, Any]
    keys: tuple[str, ...] = ()
    item_name: str = ""
    badness: int = 1


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What happened in the agent's turn, as far as the customer can know.

    Attributes:
        turn: Number of this agent turn, from 1.
        turns_left: Turns that remain after it.
        message: What the agent said, or empty.
        hasty: The agent answered although something is unsaid; the answer was not judged.
        changed: The cart, or the returns and exchanges made, are not as they were.
        shown: How many products the message shows.
        complaints: What is wrong in what the customer sees, most important first.
        reached: The cart or the products shown are all that the customer wants, said or not.
        sold_out: Fallback keys of items that a tool result of this turn shows or refuses as sold out.
        gone: Fallback keys of items that are sold out, seen by the agent or not; they may be asked for.
        progress: Something new was seen, or the shop changed for the better.
    """

    turn: int
    turns_left: int
    message: str
    hasty: bool = False
    changed: bool = False
    shown: int = 0
    complaints: tuple[Complaint, ...] = ()
    reached: bool = False
    sold_out: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    progress: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What the customer says after a turn.

    Attributes:
        acts: Its acts in the order they speak.
        text: The words, with typos.
        slots: Keys said, new or again.
        new: Keys said for the first time, or with a new value.
        discount: Why the turn counts as the customer's own, or empty.
        quit: The customer leaves.
    """

    acts: tuple[str, ...]
    text: str
    slots: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    discount: str = ""
    quit: bool = False


@dataclass(slots=True)
class _Draft:
    acts: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


class Customer:
    """One customer in one episode.

    Args:
        env_id: Environment, which decides the words.
        ledger: What it wants and has said. The customer is the only writer.
        persona: Its style.
        noise: Axis 6.
        episode_key: What its streams are keyed by.
        grammar: The words; None for the built-in grammar.
    """

    def __init__(
        self,
        env_id: str,
        ledger: Ledger,
        persona: Persona,
        noise: float,
        episode_key: tuple[Any, ...],
        grammar: Grammar | None = None,
    ):
        self._env_id = env_id
        self.ledger = ledger
        self._persona = persona
        self._noise = noise
        self._key = episode_key
        self._grammar = grammar or Grammar()
        self._clarifications_left = math.ceil(len(ledger.omitted) / 2)
        self._confirmed = False
        self._messages = 0
        self._idle = 0
        self._corrections: Counter[str] = Counter()
        self._badness: dict[str, int] = {}
        self._given_up: set[str] = set()

    def open(self, turn: int = 0, lead: str = "") -> Reply:
        """Raise the matter: the heads, and every slot that is not omitted.

        Args:
            turn: Agent turns taken so far.
            lead: "" for the first message of all, "next" after another intent was answered, "switch" to change the
                subject before that.
        """
        keys = [key for key in self.ledger.slots if key not in self.ledger.omitted and key not in self.ledger.asleep]
        draft = _Draft()
        if lead:
            self._add(draft, turn, lead, [], {"subject": True, "env": self._env_id}, always=True)
        self._add(draft, turn, "open", keys, {"follow": True} if lead else None)
        return self._reply(draft, turn)

    def come_back(self, turn: int) -> Reply:
        """Return to this intent after another one was answered."""
        draft = _Draft()
        what = next((str(slot.value) for slot in self.ledger.slots.values() if slot.kind in HEADS), "")
        self._add(draft, turn, "switch", [], {"back": True, "env": self._env_id, "what": what}, always=True)
        return self._reply(draft, turn)

    def react(self, facts: TurnFacts) -> Reply | None:
        """What the customer says after a turn; None where it keeps silent."""
        draft = _Draft()
        self._messages += bool(facts.message)
        for key in facts.gone:
            self.ledger.wake(key)
        if facts.hasty:
            self._speak_up(draft, facts, limit=3, context={"hasty": True})
        elif facts.message:
            self._answer(draft, facts)
        unasked = [key for key in facts.sold_out if not self.ledger.said(key)]
        self._add(draft, facts.turn, "elaborate", unasked, {"sold_out": True})
        if facts.turns_left == 2:
            # By the end everything has been said: also what to do if something sells out in the last two turns.
            for key in list(self.ledger.asleep):
                self.ledger.wake(key)
        if facts.turns_left == 2 and not self.ledger.everything_said():
            self._speak_up(draft, facts, limit=None, context={"late": True})
        self._idle = 0 if draft.new or facts.progress else self._idle + 1
        if self._idle >= TURNS_WITHOUT_PROGRESS and facts.turns_left > 0:
            return self._quit(draft, facts)
        return self._reply(draft, facts.turn, facts) if draft.acts else None

    def thank(self, turn: int, *, more: bool = False) -> Reply:
        """The last word after an accepted answer; with `more`, another matter follows."""
        draft = _Draft()
        self._add(draft, turn, "thanks", [], {"more": more}, always=True)
        return self._reply(draft, turn)

    def _answer(self, draft: _Draft, facts: TurnFacts) -> None:
        asks = understand(facts.message, [s for k, s in self.ledger.slots.items() if k not in self.ledger.asleep])
        if self.ledger.pending and self._messages >= 2:
            self._switch(draft, facts.turn)
        complaints = self._due_complaints(facts, asks)
        if asks.question:
            self._clarify(draft, facts, asks, bool(complaints))
        if complaints:
            self._correct(draft, facts.turn, complaints)
        elif facts.reached and (facts.changed or facts.shown or asks.confirm):
            self._confirm(draft, facts.turn)
        elif facts.shown and not draft.acts and self.ledger.unsaid():
            self._add(draft, facts.turn, "elaborate", [self.ledger.unsaid()[0].key])
        if not draft.acts:
            # What was given up is still wrong: nothing is called fine as long as something is.
            fine = (facts.shown or facts.changed) and not facts.complaints
            why = "shown_fine" if fine else "other" if asks.question else "working"
            self._add(draft, facts.turn, "chat", [], {"why": why}, always=True)

    def _clarify(self, draft: _Draft, facts: TurnFacts, asks: Understanding, busy: bool) -> None:
        """Answer what was asked: the unsaid first, at most three slots; else repeat, or say there is nothing else."""
        said = self.ledger.said
        if asks.claims and not (facts.reached and all(asks.claims.values())):
            self._judge(draft, facts, asks)
            if any(key in draft.new for key in draft.slots) or not asks.open:
                return
            # Nothing new by that; whoever asked for anything else, too, hears of it.
            asks = replace(asks, asked=(), how_many="", claims={})
        unsaid = [key for key in asks.asked if not said(key)][:PER_QUESTION]
        if asks.open and len(unsaid) < PER_OPEN_QUESTION:
            rest = [slot.key for slot in self.ledger.unsaid() if slot.key not in unsaid]
            unsaid += rest[: PER_OPEN_QUESTION - len(unsaid)]
        if unsaid:
            self._add(draft, facts.turn, "clarify", unsaid)
            return
        if asks.how_many and self._counts_items():
            # A number that was never named is one; to call it unimportant would be untrue.
            several = sum(slot.kind == "item" for slot in self.ledger.slots.values()) > 1
            words = ONE_OF_EACH if several and asks.how_many != "item" else ONE_OF_IT
            draft.parts.append(Stream("words", *self._key, facts.turn, "one").choice(words))
            draft.acts.append("repeat")
        if asks.open and not busy:
            # Also after the number: whoever asks for anything else must hear that there is nothing.
            self._add(draft, facts.turn, "nothing_else", [], always=True)
        elif draft.acts and draft.acts[-1] == "repeat":
            return
        elif asks.asked and not busy and not facts.reached:
            keys = list(asks.asked[:PER_QUESTION])
            since = {self.ledger.sayings[key][0].turn for key in keys}
            when = "start" if since == {0} else "just now" if since == {facts.turn - 1} else "earlier"
            self._add(draft, facts.turn, "repeat", keys, {"when": when})
        elif asks.about and not busy:
            self._add(draft, facts.turn, "unsure", [], {"about": asks.about}, always=True)

    def _judge(self, draft: _Draft, facts: TurnFacts, asks: Understanding) -> None:
        """Say yes or no to what the agent took to be so.

        Only as many values are judged as a question may reveal, and each of them is said, so that a long list of
        guesses brings no more than a question does.
        """
        judged = [key for key in asks.asked if key in asks.claims][:PER_QUESTION]
        right = [asks.claims[key] for key in judged]
        agree = "yes" if all(right) else "almost" if any(right) else "no"
        more = [key for key in asks.asked if key not in asks.claims and not self.ledger.said(key)]
        keys = (judged + more)[:PER_QUESTION]
        act = "clarify" if any(not self.ledger.said(key) for key in keys) else "repeat"
        self._add(draft, facts.turn, act, keys, {"agree": agree})

    def _counts_items(self) -> bool:
        """Whether the customer wants things in numbers at all (a list of items)."""
        return any(slot.kind == "item" for slot in self.ledger.slots.values())

    def _due_complaints(self, facts: TurnFacts, asks: Understanding) -> list[Complaint]:
        """Complaints are made when the customer has just seen something: a changed cart, products, or it is asked."""
        # Whoever wants to have a value confirmed does not ask whether the cart is right.
        if not (facts.changed or facts.shown or (asks.confirm and not asks.claims)):
            return []
        return [c for c in facts.complaints if c.subject not in self._given_up][:COMPLAINTS_PER_REPLY]

    def _correct(self, draft: _Draft, turn: int, complaints: Sequence[Complaint]) -> None:
        open_complaints = []
        for complaint in complaints:
            if complaint.badness < self._badness.get(complaint.subject, complaint.badness):
                self._corrections[complaint.subject] = 0
            self._badness[complaint.subject] = complaint.badness
            self._corrections[complaint.subject] += 1
            if self._corrections[complaint.subject] > CORRECTIONS_BEFORE_GIVING_UP:
                self._given_up.add(complaint.subject)
                name = complaint.item_name or "that one"
                self._add(draft, turn, "give_up", [], {"item_name": name}, always=True)
            else:
                open_complaints.append(complaint)
        if open_complaints:
            keys = [key for complaint in open_complaints for key in complaint.keys]
            context = {"complaints": [complaint.facts for complaint in open_complaints]}
            self._add(draft, turn, "correct", list(dict.fromkeys(keys)), context, always=True)

    def _confirm(self, draft: _Draft, turn: int) -> None:
        """Yes, that is it. Whatever of the reached goal was unsaid is said by it."""
        unsaid = [slot.key for slot in self.ledger.unsaid()]
        self._add(draft, turn, "confirm", unsaid, always=True)

    def _switch(self, draft: _Draft, turn: int) -> None:
        old = {key: self.ledger.slots[key].value for key in self.ledger.pending}
        for key in self.ledger.switch(turn):
            slot = self.ledger.slots[key]
            draft.parts.append(self._say("switch", [slot], turn, {"old": old[key]}))
            draft.acts.append("switch")
            draft.slots.append(key)
            draft.new.append(key)

    def _speak_up(self, draft: _Draft, facts: TurnFacts, limit: int | None, context: Mapping[str, Any]) -> None:
        """Say unasked what is unsaid: a change of mind first, then the most important slots."""
        changed = len(self.ledger.pending)
        if changed:
            self._switch(draft, facts.turn)
        rest = [slot.key for slot in self.ledger.unsaid()]
        self._add(draft, facts.turn, "elaborate", rest if limit is None else rest[: max(0, limit - changed)], context)

    def _quit(self, draft: _Draft, facts: TurnFacts) -> Reply:
        if self.ledger.pending:
            self._switch(draft, facts.turn)
        for key in list(self.ledger.asleep):
            self.ledger.wake(key)
        self._add(draft, facts.turn, "quit", [slot.key for slot in self.ledger.unsaid()], always=True)
        reply = self._reply(draft, facts.turn, facts)
        return Reply(reply.acts, reply.text, reply.slots, reply.new, "", quit=True)

    def _add(
        self,
        draft: _Draft,
        turn: int,
        act: str,
        keys: Sequence[str],
        context: Mapping[str, Any] | None = None,
        *,
        always: bool = False,
    ) -> None:
        """Add an act with its slots; an act that needs slots and has none is not made (unless `always`)."""
        if not keys and not always:
            return
        draft.parts.append(self._say(act, [self.ledger.slots[key] for key in keys], turn, context or {}))
        draft.acts.append(act)
        draft.new.extend(self.ledger.say(keys, turn, act))
        draft.slots.extend(keys)

    def _say(self, act: str, slots: Sequence[Slot], turn: int, context: Mapping[str, Any]) -> str:
        stream = Stream("words", *self._key, turn, act, len(slots))
        said = {slot.key for slot in slots}
        withheld = [slot for key, slot in self.ledger.slots.items() if key not in said and not self.ledger.said(key)]
        withheld += [replace(self.ledger.slots[key], value=value) for key, value in self.ledger.pending.items()]
        context = {"style": self._persona.style, **context}
        return self._grammar.say(act, self._env_id, slots, stream, context=context, withheld=withheld)

    def _reply(self, draft: _Draft, turn: int, facts: TurnFacts | None = None) -> Reply:
        text = add_noise(join(draft.parts), self._noise, Stream("noise", *self._key, turn))
        discount = self._discount(draft, facts) if facts is not None and not facts.hasty else ""
        return Reply(tuple(draft.acts), text, tuple(dict.fromkeys(draft.slots)), tuple(draft.new), discount)

    def _discount(self, draft: _Draft, facts: TurnFacts) -> str:
        """Why the customer caused this turn, or empty. Each reason is capped, and a turn uses up one reason only."""
        if "switch" in draft.acts:
            return "the customer changed its mind"
        if any(key in facts.gone for key in draft.new):
            return "an item sold out and the customer named its fallback"
        if "correct" in draft.acts or "give_up" in draft.acts:
            return ""
        volunteered = "elaborate" in draft.acts and facts.turns_left != 2
        useful = [key for key in draft.new if self.ledger.slots[key].kind not in HEADS]
        if useful and ("clarify" in draft.acts or volunteered) and self._clarifications_left > 0:
            self._clarifications_left -= 1
            return "the customer added a detail" if volunteered else "the customer answered a useful question"
        if "confirm" in draft.acts and not self._confirmed:
            self._confirmed = True
            return "the customer confirmed"
        return ""
