"""The customer's sentences: an act and the slots it must carry become text, without a model and without a network.

A message is composed from parts: a lead that belongs to the act, a frame that belongs to the environment, and for
every slot one of several phrasings. All slots given are said and nothing else about the goal is, so that the ledger,
which records what was said, is true by construction; `mentions` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecomrlve.customer import errand_wording, errands, openings, wording
from ecomrlve.customer.complaints import complaint
from ecomrlve.customer.items import about_item, agreement, listed_items, named, thing
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import mentions, names_item, yes_or_no
from ecomrlve.customer.phrases import IT, THEY, Pronoun, mod, need, priority, short, value_words, version
from ecomrlve.customer.values import say_count
from ecomrlve.customer.words import (
    a,
    bare,
    common_noun,
    is_plural,
    listed,
    pick,
    sentence,
    squeeze,
    statements,
    the,
    tidy,
)
from ecomrlve.streams import Stream

__all__ = ["ACTS", "Grammar", "join", "mentions", "names_item"]

ACTS = (
    "open", "clarify", "confirm", "elaborate", "switch", "correct", "unsure", "repeat", "chat", "give_up", "quit",
    "thanks", "nothing_else", "next",
)  # fmt: skip
_SHOPPING = ("E_PD", "E_CART")
_MODS_IN_ONE_SENTENCE = 3


def join(parts: Sequence[str]) -> str:
    """Several parts of a reply as one message: each a sentence, none twice, empty ones left out."""
    kept: list[str] = []
    for part in parts:
        text = sentence(part)
        if text and text not in kept:
            kept.append(text)
    return " ".join(kept)


def _of(env: str, shopping: Mapping[str, tuple[str, ...]], errand: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return shopping.get(env) or errand[env]


class Grammar:
    """Phrases what the customer says. It has no state: the same stream gives the same words."""

    def say(
        self,
        act: str,
        env_id: str,
        slots: Sequence[Slot],
        stream: Stream,
        *,
        context: Mapping[str, Any] | None = None,
        withheld: Sequence[Slot] = (),
    ) -> str:
        """Phrase one act.

        Args:
            act: One of `ACTS`.
            env_id: The environment, for wordings of its own; one without them gets those of E_PD.
            slots: Exactly the slots that the text must carry.
            stream: Where the choice of words comes from.
            context: What the act is about, as far as it is no slot.

                - any act: ``style``, one of `wording.STYLES`, for brevity and politeness; ``type``, the product type
                  already known, so that headphones are "they";
                - ``correct``: ``complaints``, a list of dicts, each with ``what`` and
                  ``wrong_variant``: item_name, got, slot; ``wrong_quantity``: item_name, got, slot or None (1 wanted);
                  ``not_wanted``: title; ``missing``: item_name; ``violates``: title, slot, got or None (unknown);
                  ``wrong_type``: title, wanted; ``sold_out``: title; ``wrong_product``: title, item_name, slot or None;
                  ``wrong_line``: title, slot or None; ``wrong_return``: slot; ``over_budget``: slot, got;
                  ``not_compatible``: title, label, got or None, want; ``wrong_project_part``: title;
                  ``tie_broken``: slot;
                - ``switch``: ``old``, the value that holds no longer; or ``subject``, another subject comes first (an
                  ``open`` with ``follow`` says which); or ``back``, an earlier one goes on: ``env`` is its
                  environment and ``what`` its name ("my return");
                - ``open``: ``follow``, where the opening goes on after such words;
                - ``clarify``, ``repeat``: ``agree``, "yes", "no" or "almost", to what the agent took to be so;
                - ``repeat``: ``when`` it was said: "start", "just now" or "earlier";
                - ``thanks``: ``more``, where another matter follows, so that nobody says goodbye yet;
                - ``unsure``: ``about``, what was asked, or None;
                - ``give_up``: ``item_name``;
                - ``chat``: ``why``, one of ``shown_fine``, ``working``, ``greeting``, ``other``;
                - ``elaborate``: ``hasty`` if the agent answered too early, ``late`` near the end, ``sold_out`` where
                  an item just turned out to be gone.

            withheld: Slots that the text must not carry; built-in phrases carry none but those asked for, a model's
                are checked (`model`).

        Returns:
            One message, never empty.

        Raises:
            ValueError: The act is unknown.
        """
        if act not in ACTS:
            raise ValueError(f"unknown act {act!r}; the acts are {', '.join(ACTS)}")
        saying = _Saying(env_id, stream, context or {}, slots)
        return tidy(getattr(saying, act)(list(slots)))


class _Saying:
    """One message in the making. Clauses are raw text; `_finish` makes sentences of them."""

    def __init__(self, env_id: str, stream: Stream, context: Mapping[str, Any], slots: Sequence[Slot]):
        known = (*_SHOPPING, *errand_wording.ENVIRONMENTS)
        self.env = env_id if env_id in known else "E_PD"
        self.stream = stream
        self.context = context
        self.style = str(context.get("style") or "")
        noun = next((str(slot.value) for slot in slots if slot.kind == "type"), context.get("type") or "")
        self.pronoun: Pronoun = THEY if noun and is_plural(str(noun)) else IT
        sent_back = next((str(slot.value) for slot in slots if slot.kind == "sendback"), str(context.get("type") or ""))
        self.thing = errands.subject(sent_back, self.env)
        self._told_of_new = False
        if self.env == "E_RETURN":
            # What is asked for there is the replacement.
            self.pronoun = errands.NEW_ONES if sent_back and is_plural(sent_back) else errands.NEW_ONE

    # --- the acts

    def open(self, slots: list[Slot]) -> str:
        if self.context.get("follow"):
            return self._finish("", self._clauses(slots, opening=True) or [self._vague()])
        style = self.style if self.style in wording.STYLES else ""
        hello = openings.greeting(style, self.stream)
        about = openings.remark(style, self.env, self.stream)
        clauses = self._clauses(slots, opening=True) or [self._vague()]
        last = openings.closing(style, self.env, self.stream)
        if about and self.stream.chance(0.65):
            # "Hi there, I finally have a moment." Then the matter.
            joined = f"{hello} {about}" if hello[-1:] in ("", ".", "!", "?") else self._finish(hello, [about])
            text = f"{joined} {self._finish('', clauses)}"
        else:
            text = f"{self._finish(hello, clauses)} {about}"
        return f"{text} {sentence(last)}"

    def next(self, slots: list[Slot]) -> str:
        return self._after(pick(errand_wording.NEXT, self.stream), slots)

    def clarify(self, slots: list[Slot]) -> str:
        return self._led("clarify", slots) if slots else self.nothing_else(slots)

    def elaborate(self, slots: list[Slot]) -> str:
        if not slots:
            return self.nothing_else(slots)
        lead = next((why for why in ("hasty", "late", "sold_out") if self.context.get(why)), "elaborate")
        return self._led(lead, slots)

    def repeat(self, slots: list[Slot]) -> str:
        if not slots:
            return pick(wording.NOTHING_NEW, self.stream)
        return self._led("repeat", slots)

    def switch(self, slots: list[Slot]) -> str:
        if self.context.get("subject"):
            return self._after(pick(errand_wording.SUBJECT, self.stream), slots)
        if self.context.get("back"):
            what = errands.earlier(str(self.context.get("what") or ""), str(self.context.get("env") or ""))
            return self._after(sentence(pick(errand_wording.BACK, self.stream).format(what=what)), slots)
        lead = pick(wording.SWITCH, self.stream)
        if len(slots) == 1 and self.context.get("old") is not None and self.stream.chance(0.6):
            clause = self._instead(slots[0], self.context["old"])
            if clause:
                return self._finish(lead, [clause])
        return self._finish(lead, self._clauses(slots) or ["I'd like to think it over once more"])

    def correct(self, slots: list[Slot]) -> str:
        complaints = list(self.context.get("complaints") or ())
        clauses = [complaint(what, self.stream) for what in complaints]
        told = {what["slot"].key for what in complaints if what.get("slot") is not None}
        clauses += self._clauses([slot for slot in slots if slot.key not in told])
        if not clauses:
            clauses = [pick(wording.NOT_RIGHT, self.stream)]
        return self._finish(pick(wording.LEADS["correct"], self.stream), clauses)

    def unsure(self, slots: list[Slot]) -> str:
        about = squeeze(str(self.context.get("about") or ""))
        if about:
            forms = errand_wording.UNSURE_ABOUT.get(self.env, wording.UNSURE_ABOUT)
            return self._after(pick(forms, self.stream).format(about=bare(about)), slots)
        return self._after(pick(errand_wording.UNSURE.get(self.env, wording.UNSURE), self.stream), slots)

    def confirm(self, slots: list[Slot]) -> str:
        return self._after(pick(_of(self.env, wording.CONFIRMS, errand_wording.CONFIRMS), self.stream), slots)

    def give_up(self, slots: list[Slot]) -> str:
        name = squeeze(str(self.context.get("item_name") or ""))
        if not name:
            return self._after(pick(("Never mind that one.", "Let's skip that one then."), self.stream), slots)
        form = pick(wording.GIVE_UP, self.stream)
        return self._after(sentence(form.format(name=the(name), bare=bare(name), **agreement(name))), slots)

    def quit(self, slots: list[Slot]) -> str:
        goodbye = pick(_of(self.env, wording.QUITS, errand_wording.QUITS), self.stream)
        return f"{goodbye} {self._led('quit', slots)}" if slots else goodbye

    def thanks(self, slots: list[Slot]) -> str:
        if self.context.get("more"):
            return self._after(pick(wording.GO_ON, self.stream), slots)
        return self._after(pick(_of(self.env, wording.THANKS, errand_wording.THANKS), self.stream), slots)

    def chat(self, slots: list[Slot]) -> str:
        why = str(self.context.get("why") or "other")
        forms = wording.CHATS.get(why, wording.CHATS["other"])
        if why == "shown_fine":
            forms = errand_wording.SHOWN_FINE.get(self.env, forms)
        return self._after(pick(forms, self.stream), slots)

    def nothing_else(self, slots: list[Slot]) -> str:
        return self._after(pick(wording.NOTHING_ELSE, self.stream), slots)

    # --- putting sentences together

    def _vague(self) -> str:
        general = ("I could use some help with my shopping", "can you help me, please?")
        return pick(errand_wording.OPENINGS.get(self.env, general), self.stream)

    def _led(self, lead: str, slots: list[Slot]) -> str:
        leads = wording.LEADS[lead]
        if lead == "elaborate":
            leads = errand_wording.ELABORATE.get(self.env, leads)
        agree = wording.AGREE.get(str(self.context.get("agree") or ""))
        said = wording.SAID.get(str(self.context.get("when") or ""))
        chosen = pick(agree or (said if said and self.stream.chance(0.6) else leads), self.stream)
        if lead in ("clarify", "elaborate") and not agree:
            if self.style == "terse" and self.stream.chance(0.7):
                chosen = ""
            elif self.style == "unsure" and self.stream.chance(0.5):
                chosen = pick(wording.HESITATIONS, self.stream)
        text = self._finish(chosen, self._clauses(slots))
        if self.style == "polite" and lead != "quit" and self.stream.chance(0.25):
            text += f" {pick(wording.KIND_WORDS, self.stream)}"
        return text

    def _after(self, text: str, slots: list[Slot]) -> str:
        return f"{text} {self._finish('', self._clauses(slots))}" if slots else text

    def _finish(self, lead: str, clauses: Sequence[str]) -> str:
        """Sentences from clauses; a lead without an end mark goes on into the first."""
        first, *rest = clauses
        texts = [sentence(f"{lead} {first}")] if lead and lead[-1] not in ".!?" else [lead, sentence(first)]
        return " ".join([*filter(None, texts), *(sentence(clause) for clause in rest)])

    # --- saying slots

    def _clauses(self, slots: Sequence[Slot], *, opening: bool = False) -> list[str]:
        """Clauses that together say all the slots: first what is wanted, then how it must be, then what matters."""
        errand = [slot for slot in slots if slot.kind in errands.KINDS]
        if errand or self.env not in _SHOPPING:
            first, last = errands.clauses(
                errand, self.stream, self.thing, self.env, style=self.style, opening=opening, pairs=self._pairs
            )
            plain = [slot for slot in slots if slot.kind not in errands.KINDS]
            return first + (self._wishes(plain, opening=opening) if plain else []) + last
        return self._wishes(slots, opening=opening)

    def _wishes(self, slots: Sequence[Slot], *, opening: bool = False) -> list[str]:
        heads = [slot for slot in slots if slot.kind == "type"]
        items = [slot for slot in slots if slot.kind == "item"]
        loose = [slot for slot in slots if slot.item is None and slot.kind not in ("type", "item", "priority")]
        owned = [slot for slot in slots if slot.item is not None and slot.kind not in ("type", "item", "priority")]
        ranked = sorted((slot for slot in slots if slot.kind == "priority"), key=lambda slot: slot.rank)
        clauses: list[str] = []
        if heads:
            first, loose = self._wanted(heads, loose, opening)
            clauses.append(first)
        if items:
            listing, owned = listed_items(items, owned, self.stream, style=self.style, opening=opening)
            clauses += listing
        groups: dict[int, list[Slot]] = {}
        for slot in owned:
            groups.setdefault(slot.item or 0, []).append(slot)
        for group in groups.values():
            if self.env == "E_BUNDLE" and all(slot.kind == "constraint" for slot in group):
                clauses += errands.about_part(group, self.stream)
            elif self.env == "E_SUB" and all(slot.kind == "identify" for slot in group):
                clauses += errands.about_original(group, self.stream)
            else:
                clauses += about_item(named(group[0]), group, self.stream)
        plain = [slot for slot in loose if slot.kind != "fallback"]
        clauses += self._loose([slot for slot in plain if slot.kind == "constraint"])
        for slot in plain:
            if slot.kind != "constraint":
                clauses.append(self._stray(slot))
        for slot in loose:
            if slot.kind == "fallback":
                clauses += about_item(named(slot), [slot], self.stream)
        return clauses + [self._aimed(clause) for clause in self._ranked(ranked)]

    def _wanted(self, heads: list[Slot], loose: list[Slot], opening: bool) -> tuple[str, list[Slot]]:
        """The product type with the first constraints behind it, and the slots that are left."""
        nouns = [common_noun(str(slot.value)) for slot in heads]
        constraints = [slot for slot in loose if slot.kind == "constraint"]
        count = self.stream.integer(min(_MODS_IN_ONE_SENTENCE, len(constraints)) + 1)
        if self.style in ("terse", "hurried"):
            count = min(_MODS_IN_ONE_SENTENCE, len(constraints))
        tail = self._mods(constraints[:count])
        terse = self.stream.chance({"terse": 0.9, "hurried": 0.5, "polite": 0.0}.get(self.style, 0.1))
        # A question is how one opens; said again, it would sound as if nobody had answered.
        form = pick(
            wording.PD_TERSE if terse else wording.PD_NEEDS if opening else statements(wording.PD_NEEDS), self.stream
        )
        phrase, noun = listed([a(noun) for noun in nouns]), listed(nouns)
        if tail and "{noun}" in form:
            return f"{form.format(noun=noun)}, {tail}", [slot for slot in loose if slot not in constraints[:count]]
        text = form.format(np=f"{phrase} {tail}" if tail else phrase, noun=noun)
        return text, [slot for slot in loose if slot not in constraints[:count]]

    def _mods(self, constraints: Sequence[Slot]) -> str:
        # What is a clause of its own comes last: "in black that must be foldable", not the other way round.
        mods = sorted(
            (mod(slot, self.stream) for slot in constraints), key=lambda text: text.startswith(("that ", "which "))
        )
        return " ".join(mods) if len(mods) == 2 and self.stream.chance(0.5) else listed(mods)

    def _loose(self, constraints: list[Slot]) -> list[str]:
        """Constraints without a noun: as clauses, behind "one", or as notes."""
        if not constraints:
            return []
        weights = {"terse": (0.1, 0.2, 0.7), "hurried": (0.3, 0.2, 0.5), "polite": (0.7, 0.3, 0.0)}.get(
            self.style, (0.6, 0.25, 0.15)
        )
        mode = self.stream.weighted(("clauses", "one", "notes"), weights)
        if mode == "notes":
            return [
                self._aimed(self.stream.choice((", ", "; ")).join(short(slot, self.stream) for slot in constraints))
            ]
        if mode == "one" and len(constraints) <= _MODS_IN_ONE_SENTENCE:
            frame = pick(wording.LOOSE_FRAMES, self.stream)
            return [frame.format(one=self.pronoun.one, mods=self._mods(constraints))]
        return self._pairs([self._aimed(need(slot, self.stream, self.pronoun)) for slot in constraints])

    def _aimed(self, clause: str) -> str:
        """In a return, what must be said of the replacement names it: "for the new one, the size should be XS".

        Once is enough: what follows in the same message is about the new one, too.
        """
        if self.pronoun not in (errands.NEW_ONE, errands.NEW_ONES):
            return clause
        named = self._told_of_new or self.pronoun.one in clause or self.pronoun.subject in clause
        self._told_of_new = True
        return clause if named else errands.aimed(clause, self.pronoun.subject, self.stream)

    def _pairs(self, clauses: list[str]) -> list[str]:
        """The clauses, some of them two to a sentence."""
        paired: list[str] = []
        while clauses:
            if len(clauses) > 1 and self.stream.chance(0.5):
                form = pick(wording.AND_ALSO, self.stream)
                paired.append(form.format(first=clauses.pop(0), second=clauses.pop(0)))
            else:
                lead = pick(wording.LEADS["more"], self.stream) if paired else ""
                paired.append(f"{lead} {clauses.pop(0)}")
        return paired

    def _stray(self, slot: Slot) -> str:
        """A quantity, variant or identifying attribute that belongs to no item."""
        if slot.kind == "quantity":
            count = say_count(slot.value, self.stream)
            form = pick(("I need {n} of them", "make it {n} of them", "{n} of them, please"), self.stream)
            return form.format(n=count)
        words = mod(slot, self.stream)
        wanted = words if slot.kind == "identify" else f"{self.pronoun.one} {words}"
        return pick(wording.ITEM_NEEDS, self.stream).format(thing=wanted)

    def _ranked(self, ranked: list[Slot]) -> list[str]:
        clauses = [priority(slot, self.stream, self.pronoun, alone=len(ranked) == 1) for slot in ranked]
        if len(clauses) == 2 and self.stream.chance(0.5):
            return [f"{clauses[0]}; {clauses[1]}" if self.stream.chance(0.3) else f"{clauses[0]}, and {clauses[1]}"]
        return clauses

    def _instead(self, slot: Slot, old: Any) -> str:
        """The new value against the old one in one clause, or nothing where that does not read well."""
        if slot.kind == "budget":
            return errands.differing(slot, old, self.stream)
        if slot.kind == "quantity":
            new = thing(the(named(slot)), [slot], self.stream)
            link = self.stream.choice(("instead of", "rather than", "and not"))
            return f"I'd like {new} {link} {value_words(slot, old)}"
        if slot.kind == "variant":
            whose = f"{the(named(slot))} " if slot.item is not None else f"{self.pronoun.object} "
            pair = pick(wording.INSTEAD, self.stream).format(
                new=f"{whose}{mod(slot, self.stream)}", old=version(slot, old)
            )
            return f"I'd like {pair}"
        if slot.kind == "type":
            pair = pick(wording.INSTEAD, self.stream).format(
                new=a(common_noun(str(slot.value))), old=a(common_noun(str(old)))
            )
            return f"I'd like {pair}"
        if slot.kind == "constraint" and slot.item is None and yes_or_no(old) is None:
            lead = self._aimed(need(slot, self.stream, self.pronoun))
            return f"{lead}, {self.stream.choice(('instead of', 'rather than', 'no longer'))} {value_words(slot, old)}"
        return ""
