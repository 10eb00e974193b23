"""An agent's message as sentences: which of them ask, what they leave out, and the pieces that ask for one thing each.

"I found two. Apart from the color, how big should it be, and how soon do you need it?" is one sentence that tells and
one that asks; that one leaves out "the color" and has two pieces, "how big should it be" and "how soon do you need it".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

MOST_READ = 4000  # characters of a message that the customer reads; nobody reads a novel in a chat

_LIST_MARK = r"(?:[-*•–]|\(?(?:\d{1,2}|[a-h])[.)])\s+"
_ENDS = re.compile(rf"(?<=[!?;])\s+|(?<=[^\d\s(][.])\s+(?=\S)|(?<=\d[.])\s+(?=[^\d\s])|\n+(?!\s*{_LIST_MARK})")
_PIECES = re.compile(
    rf"(?:^|(?<=[\s(]))(?={_LIST_MARK})|[,;:]\s|\s[-–—]\s|\s(?:and|&|plus|n|then)\s|\bas well as\b|\n+|\?\s*"
)
_MARK = re.compile(rf"^\s*{_LIST_MARK}")
_FIRST = r"(?:and |so |ok(?:ay)?,? |now,? |then,? |but |also,? |well,? |hm+,? |right,? |great,? |sure,? |thanks?[,!]? |perfect,? |alright,? |\W)*"
_ASKING = re.compile(
    rf"\?|^{_FIRST}(?:which|what|whats|what's|whatever|how|how's|hows|who|who's|whose|whom|when|when's|where|where's|why|do|does|did"
    r"|would|could|can|should|shall|is|are|was|were|any|will|may|might|must|have you|has|had|am i|isn't|aren't|don't you|wouldn't"
    r"|kindly|pls|plz|please (?!note|find|see|wait|hold|bear|be patient|allow)|tell me|let me (?:know|have)|give me|name (?:me|the|your)|describe|specify|identify"
    r"|state (?:the|your)|share|spell out|type in|fill in|enter|provide|send me|list (?:the|your|all|everything)|rank|confirm"
    r"|remind me|let's (?:talk|hear|go through|go over|discuss)|in (?:which|what|how many)|by when|for (?:how|which|what)|to (?:which|what|how)"
    r"|on (?:which|what)|from (?:which|where)|at (?:what|which)|with (?:which|what)|within (?:how|what))\b"
    r"|\b(?:tell me|let me (?:know|have)|remind me|fill me in|give me (?:the|your|an? (?:idea|hint|figure|clue|number)|some|something)"
    r"|(?:pls|please|kindly|could you|can you|would you)(?: also| just| kindly)? (?:say|share|specify|confirm|tell|give|provide|clarify|describe|name|list|send|state|indicate|let me|"
    r"type|enter|fill|add|note|mention|explain|rank|spell|identify|put|write|check|pick|choose|advise|list)"
    r"|(?:i|we)(?:'d| would|'ll| will)?(?: just| only| still| also| really| first| then)* (?:need|have to know|need to know|like to know|love to know|like to hear"
    r"|love to hear|want to know|like to ask|have to ask|like to have|like to check|like to understand|be glad of|be glad to know|be grateful for|be happy to know"
    r"|appreciate|require|lack|miss|am missing|am lacking|'m missing|'m lacking|'m curious|am curious|wonder|was wondering|am wondering|'m wondering|want to ask|could use"
    r"|should know|must know|ought to know|take it|presume|am unsure|'m unsure|'m not sure|am not sure|don't know yet)\b(?! to (?:look|search|check (?:the|our|my|if|with)|think|go|run|find|see|get back))"
    r"|(?:i'm|i am|we're) (?:just |only |still )*(?:missing|lacking|curious|wondering|unsure|after your|asking)"
    r"|it(?:'d| would|'ll| will) (?:\w+ )?(?:help|be (?:good|useful|great|helpful|nice|handy|grand)) (?:me |us )?(?:to know|if|to hear|to have|knowing|a lot)"
    r"|(?:would|will) come in handy|would help|is (?:still )?(?:needed|missing|open)|are (?:still )?(?:needed|missing|open)|remains? open|still open|open points?"
    r"|(?:what|all) (?:i|we)(?:'m| am|'d| would)? (?:\w+ )?(?:lack|need|miss|require|want to know|like to know|missing|need to know)|depends? (?:on|,)|it depends|turns on|(?:just|only) (?:the|how|what|which|whether|your)\b|let me (?:take|jot|note|write|get|collect|put)\b.{3,40}:|so (?:that )?i can\b.{3,40}:|which (?:one |of them |of these )?(?:u|you)\b|looking to know|wondering"
    r"|clarify|specify|confirm|checklist|(?:a few|some|several|two|three|quick) (?:more )?(?:questions?|details|points|things|numbers?|ones|facts)\b.{0,20}:"
    r"|i take it\b|i (?:assume|presume|gather|guess) you|(?:is|was|does|isn't|doesn't|right|correct|yes) (?:it|that|not)? ?$)"
    r"|\b(?:pls|plz|please)\W*$|,? (?:right|correct|yes|ok|okay|no|huh|eh|which one|what)\W*$|__|\b(?:min|max|minimum|maximum|latest|number of)\b[^.]*\bpls\b"
)  # fmt: skip
# What a sentence leaves out: the trigger in front, or behind.
_WITHOUT = re.compile(
    r"\b(?:apart from|besides|except(?: for)?|other than|aside from|leaving aside|bar|barring|excluding|not counting|never mind|forget(?: about)?"
    r"|ignor(?:e|ing)|disregard(?:ing)?|regardless of|setting aside|skip|no need (?:to (?:repeat|tell|mention|state|name|give|say|specify|worry about|go into)(?: me)?|for|to)"
    r"|(?:i|we) (?:don't|do not|needn't) (?:need|ask about|want|care about|mean|need to know|want to know)(?: to know| to hear)?|you (?:needn't|don't need to|don't have to)"
    r" (?:tell me|repeat|mention|say|give me|state)|i'm not asking (?:about|for)|not asking (?:about|for)|i (?:already )?(?:know|have|'ve got|have got|noted)"
    r"(?: down)? already|you(?:'ve| have)? (?:already )?(?:told|gave|given|mentioned|said|named) (?:me )?|we(?:'ve| have) (?:already )?(?:covered|settled|discussed|done|dealt with)"
    r"|(?:i|we)(?:'ve| have)(?: already)? (?:got|noted|covered|written down|understood)|i (?:already )?know|leav(?:e|ing)|seeing that|since|not)\b(?P<what>.*?)"
    r"(?P<end>[,.;:!?]| but\b| only\b| just\b| out of (?:it|this)\b| aside\b| and only\b| though\b|$)"
)
_BEHIND = re.compile(
    r"(?P<what>[^,.;:!?]*?)\b(?:(?:(?:is|are|'s|has been|have been) (?:already )?(?:settled|noted|clear|known|fixed|decided|done|sorted|covered|fine as it is|no matter)|aside"
    r"|already|isn't needed|aren't needed|(?:is|are) not needed|i (?:already )?(?:know|have))\b)"
)
_STRICT = re.compile(r"^(?:leav(?:e|ing)|seeing that|since|not)\b")
_SETTLED = re.compile(r"\b(?:settled|clear|noted|known|fixed|decided|aside|out of|covered|already)\b")

OPEN = re.compile(
    r"\b(?:(?:any|some|every)thing (?:else|more|specific|particular|in particular|special|further|important|i should|i ought|i need|you(?:'d| would)? |to (?:add|know|watch|bear)|other|in mind|"
    r"about|i've not|i haven't|the \w+ must|that (?:i|you|matters|must|definitely)|(?:definitely )?i definitely)|what else|what other|whatever else|more details?|other (?:requirements?|conditions?|criteria|"
    r"details?|preferences?|wishes|needs|things?|demands|points)|(?:any|your|all|further|additional|specific|particular|more|some) (?:\w+ )?(?:requirements?|preferences?|criteria|needs|wishes|demands|"
    r"must-haves?|musts|expectations|conditions|specifics|background)\b(?! (?:as to|about|for the|regarding|on the))|tell me (?:some )?more|what (?:exactly |precisely )?(?:are|were) you (?:looking|hoping|searching) for|"
    r"what (?:exactly )?do you (?:need|want|have in mind|expect)\b(?! (?:it|to|for|the|in|on|as|there|from|from it|me to (?:do|put)))|what should i (?:know|watch|look|bear|pay)|missing anything|(?:is|was) that (?:all|everything|it|the lot)|"
    r"full picture|(?:whole|complete) (?:list|picture|story)|must-haves|no-gos|deal-?breakers?|everything (?:you|i)|describe (?:everything|what|it|your ideal|the ideal|the perfect)|what (?:should|must|ought|has|does|would) "
    r"(?:it|they|the (?:\w+ )?(?:one|ones)|yours)(?: \w+)? (?:be|to be|got to be|have to be|have) like|what's it (?:got|supposed) to be like|how would you describe|what would be (?:ideal|perfect)|"
    r"(?:tell|say|add|mention) (?:me )?(?:anything|something)|something (?:further|else|more|about)|(?:left|remains) (?:out|unsaid|to say)|haven't (?:told|mentioned|said)|not (?:told|mentioned) (?:me )?yet|"
    r"walk me through|in your own words|what are you after$|what are you after\W*$|what matters (?:there|here)$)"
)  # fmt: skip
CONFIRM = re.compile(
    r"\b(?:(?:is|are|does|do|was|were|isn't|aren't|doesn't|will|would|did|have|has|am)(?: not)? (?:this|that|these|those|it|they|everything|all|i|we|you(?: ok(?:ay)?| happy| content| satisfied| fine| pleased| alright)|the (?:\w+ )?(?:cart|list|order|basket|"
    r"selection|summary|return|choice|set|bundle|plan|suggestion|one|ones|lot))\b.{0,80}?\b(?:right|correct(?:ly)?|ok|okay|good|fine|work|works|fit|match|suit|suits|what you|looking for|look|meant?|had in mind|properly|in order|"
    r"you(?:'d)? (?:want(?:ed)?|like|had|meant|asked|need)|how you|complete|acceptable|satisfactory|understood|like this|like that|the (?:right )?one|all right|to your)\b"
    r"|shall i|should i (?:go|submit|proceed|finish|finali[sz]e|put|place|order|book|send|take|hand)|(?:can|may|could) i (?:submit|go ahead|proceed|place|finish|finali[sz]e|send|book|hand)|ready to|happy with|content with|satisfied with|pleased with|can you confirm|"
    r"please confirm|to confirm|confirm (?:that|whether|if)|sounds? (?:good|right|ok|okay|fine|about right|like a plan)|looks? (?:good|right|ok|okay|fine|alright)|(?:correct|right|yes|okay|ok|agreed|true)\s*\?|am i right|"
    r"(?:have|did) i (?:got|get|understood|understand|note|noted|read|miss|taken?|caught|heard|hear|write|written)|(?:is|isn't|was|wasn't|does|didn't|do|don't|did) (?:it|that|you|they)(?: not)?\s*\?$|didn't you|don't you\?|isn't it|aren't they|"
    r"is that (?:so|it|how|what|right)|is this (?:it|how|what|right|the)|would (?:that|this|these|those|they|it) (?:do|work|suit|be (?:ok|okay|fine|all right|alright|acceptable|what))|"
    r"(?:how|what) (?:about|of|do you think of) (?:this|that|these|those) (?:one|ones|two|three|pick|set)?|are (?:we|you) (?:good|all set|okay|ok|fine|happy)|(?:go ahead|proceed|good to go|all set)\s*\?|"
    r"double-?check|just to be (?:sure|safe|certain|clear)|let me (?:recap|sum up|summari[sz]e|repeat)|to (?:sum up|recap|summari[sz]e)|if i (?:understood|understand|got|hear|heard)|i take it|you mean\b|"
    r"(?:^|, |\. )so (?:it|that|you|we|the|everything)(?:'s|'re|'d| is| are| want| need| have| must| would)?\b|is it this one|talking about|run an eye over|have a look at the cart|as you wanted|fit the bill|tick (?:all|the|every)|what you (?:wanted|had in mind|asked for|meant)|"
    r"okay for you|ok for you|fine (?:with|by|for) you|all right (?:with|by|for) you|good for you|ok like this|okay like this|correctly|properly)(?!\w)"
)  # fmt: skip


# A statement with a question mark: "your limit is $90 and the cable should be 3 meters?"
STATED = re.compile(
    r"^(?:\W|so\b|okay\b|ok\b|then\b|and\b|right\b|alright\b|just (?:checking|to \w+)\b[^:,]{0,30}[:,]|to confirm\b|you mean\b)*\s*"
    r"(?:you(?:'d|'re|'ve|r)?|it(?:'s)?|that(?:'s)?|the|an?|this|in|with|we(?:'re)?|i(?:'ve)?|\$?\d\S*|two|three|four)\b(?!.*\b(?:which|what|how|who|where|why)\b).*\?$|\bthat yours\b|"
    r"(?:asking|talking) about\b.{0,12}\?$"
)
# The beginning of a summary of what the customer said.
RECAP = re.compile(
    r"^(?:\W|so\b|okay|ok\b|then|and|well|right|alright|now|just|great|perfect|thanks|thank you)*\s*(?:so\b|let me|let's|to (?:sum|recap|confirm|be sure)|just to|if i|i(?:'ve| have)? (?:put|noted|got|understood|"
    r"written|have|take)|you(?:'d|'re| would| want| need| like|r| are| said| mentioned| bought| ordered| have)|that(?:'s| is|'d be)|we(?:'re| are) talking|it(?:'s| is)|the (?:one|order|parcel|pen|kit|item|package)|then i|"
    r"understood|noted|summary|in short|my notes|recap|everything)|^[^.]{3,40}: "
)


_OFFER = re.compile(
    r"\b(?:found|recommend|favou?rite|here (?:is|are)|here's|there's|there is|this one|these|in stock|on sale|option|suggest|look at|candidate|"
    r"complete at|costs?|ships?)\b"
)


_OPEN_WORD = re.compile(rf"^{_FIRST}(?:which|what|how|when|where|who|why|whose)\b")
_TAG = re.compile(r"\b(?:right|correct|yes|ok|okay)\s*\?*$|like this\s*\?*$|\blook\b|\bsound\b")


def asks_to_confirm(text: str) -> bool:
    """Whether a sentence asks whether what was understood, shown or done is right."""
    if _OPEN_WORD.search(text) and not _TAG.search(text):
        return False
    return CONFIRM.search(text) is not None or STATED.search(text) is not None


def sums_up(text: str) -> bool:
    """Whether a sentence sums up what the customer wants; what a product is like is no such summary."""
    return RECAP.search(text) is not None and not (_OFFER.search(text) and not re.search(r"\byou(?:r|'d)?\b", text))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message.

    Attributes:
        text: Lower case.
        asks: Whether it asks something.
        heard: The text without what it leaves out.
        excluded: What it leaves out.
        pieces: The parts of `heard` that may ask for one thing each; the first holds all of it, if it is short.
    """

    text: str
    asks: bool
    heard: str
    excluded: tuple[str, ...]
    pieces: tuple[str, ...]


@lru_cache(maxsize=2048)
def sentences(message: str) -> tuple[Sentence, ...]:
    """The sentences of a message, in order."""
    text = message[:MOST_READ].casefold().replace("’", "'").replace("`", "'").replace("_", " ")
    text = text.replace("# of", "number of")
    parts = [part.strip() for part in _ENDS.split(text) if part and part.strip()]
    found = tuple(_read(part) for part in parts)
    if found and not any(sentence.asks for sentence in found) and _is_fragment(parts[-1]):
        found = (*found[:-1], replace(found[-1], asks=True))
    return found


# Polite words in a sentence that tells: "one moment, please".
_WAIT = re.compile(
    r"\b(?:(?:one|a|just a) (?:moment|second|sec|minute)|bear with me|hold on|hang on|be right back|give me a|that's all i need(?:ed)?|"
    r"all i need(?:ed)? for now|moving on|one moment|thanks a (?:lot|million)|let me (?:see|search|look|check|have a look|find|go|browse))\b[^?]*$"
)
# What a message that tells nothing else asks for without a word of asking.
_AFTER = re.compile(
    r"\b(?:(?:are we|we're|we are) talking|what's left|what remains|that i'm after|i'm after\b|is, though|i'd want (?:its|the|your)|"
    r"i'd go by|(?:that's|is) (?:all|what) i (?:need|want|lack|miss)\b|help me (?:work|find|understand|narrow|out|pick|choose|see)|i only want to know|i'd ask (?:you )?(?:for|about)|i'd like you to|if you (?:tell|told|give|gave|let|could|can|would)\b|(?:please|first|basics|details|questions?|points?|criteria|numbers|open|side|line|checklist|hunting|start|begin|missing|needed)\b[^:?]{0,40}:\s|y/n|yes/no|\(a\).*\(b\)|\b1[.)].*\b2[.)]|(?:don't|do not|doesn't|didn't|haven't|hasn't|not|never|no idea)\b.{0,20}\b(?:know|told|say|said|see|mentioned|clear|sure|catch|understand) (?:yet|which|what|how|whether|if|me|where|when|who|the)\b)|^(?:roughly |about |approximately )?how\b"
)


# Somebody tells something: a pronoun with a verb, a demonstrative, a polite word.
_TELLS = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|we|we've|we'll|we're|it|it's|he|she|they|they're|this|that|that's|these|those|here|here's|there|there's|"
    r"let|thanks?|sorry|welcome|great|perfect|okay|ok|sure|done|added|found|noted|got|understood|good|nice|lovely|hello|hi|hey|"
    r"is|are|was|were|has|have|comes?|costs?|ships?|arrives?|will|yes|no|goes|went|takes?|left|shows?|looks?|seems?|works?|fits?|belongs?|says|gets?|"
    r"runs?|makes?|weighs?|holds?|lasts?|stays?|moving|checking|looking|searching|going)\b"
)
_SHORT = 12  # words


def _is_fragment(text: str) -> bool:
    """Whether a message is no more than a few words for what is wanted of the customer: "size and quantity"."""
    return len(text.split()) <= _SHORT and not _TELLS.search(text) and not _WAIT.search(text)


def _asks(text: str) -> bool:
    return (_ASKING.search(text) is not None and not _WAIT.search(text)) or _AFTER.search(text) is not None


def _read(text: str) -> Sentence:
    excluded: list[str] = []

    def leave_out(match: re.Match[str]) -> str:
        trigger = match.group()
        # "Leave", "since" and "not" leave something out only where it is said to be settled, or "but" follows.
        if _STRICT.match(trigger) and not (_SETTLED.search(trigger + match["end"]) or " but" in match["end"]):
            return trigger
        if not match["what"].strip():
            return trigger
        excluded.append(match["what"])
        return " , "

    heard = _WITHOUT.sub(leave_out, text)

    def settled(match: re.Match[str]) -> str:
        excluded.append(match["what"])
        return " , "

    heard = _BEHIND.sub(settled, heard)
    pieces = [_MARK.sub("", piece).strip(" ,;:-?!.()") for piece in _PIECES.split(heard) if piece]
    return Sentence(text, _asks(text), heard, tuple(excluded), tuple(filter(None, pieces)))
