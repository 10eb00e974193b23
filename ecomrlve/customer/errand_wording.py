"""The stock of sentences for substitutions, returns, orders, questions, projects and journeys, by environment.

Only what would be untrue or odd in the words of a shopper who looks for a product; everything else is in `wording`.
"""

from __future__ import annotations

ENVIRONMENTS = ("E_SUB", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY")

CONFIRMS: dict[str, tuple[str, ...]] = {
    "E_SUB": (
        "Yes, those would do in its place.",
        "Perfect, those come close enough.",
        "That's the kind of thing I meant.",
        "Good, I could live with those.",
        "Yes, these are fine as a substitute.",
        "All good, those fit what I said.",
    ),
    "E_RETURN": (
        "Yes, that's how I want it.",
        "Exactly, that's what I asked for.",
        "Good, that's as I meant it.",
        "Yes, that's the right one.",
        "Right, leave it like that.",
        "All good, nothing to change there.",
    ),
    "E_STATUS": (
        "Yes, that's what I'm asking about.",
        "Right, that's what I mean.",
        "Yes, you've understood me.",
        "Exactly, that's my question.",
        "That's right.",
        "Yes, just that.",
    ),
    "E_POLICY": (
        "Yes, that's my question.",
        "Right, that's what I'm asking.",
        "Yes, you've understood me.",
        "Exactly, that's my case.",
        "That's right.",
        "Yes, that describes it.",
    ),
    "E_BUNDLE": (
        "Yes, that's just what it needs.",
        "Perfect, that covers everything.",
        "That's the whole list, well done.",
        "Good, all of it fits.",
        "Yes, that's complete.",
        "All good, that's what I had in mind.",
    ),
    "E_JOURNEY": (
        "Yes, that's right.",
        "Perfect, just like that.",
        "That's what I meant.",
        "Good, that's how I want it.",
        "Yes, exactly.",
        "All good, leave it like that.",
    ),
}

THANKS: dict[str, tuple[str, ...]] = {
    "E_SUB": (
        "Thank you, I'll have a look at those.",
        "Thanks for the suggestions.",
        "Thanks, that spares me the search.",
        "Thank you for finding something.",
        "Thanks a lot, have a nice day!",
        "Okay, thank you for your help.",
    ),
    "E_RETURN": (
        "Thank you for looking into it.",
        "Thanks, then I know where I stand.",
        "Okay, thank you for your help.",
        "Thanks for taking care of it.",
        "Thanks a lot, have a nice day!",
        "All right, thanks.",
    ),
    "E_STATUS": (
        "Thanks for looking it up.",
        "Thank you, now I know.",
        "Okay, thanks for the information.",
        "Thanks a lot, have a nice day!",
        "All right, thank you.",
        "Thanks, that's all I wanted to know.",
    ),
    "E_POLICY": (
        "Thanks for looking it up.",
        "Thank you, now I know.",
        "Okay, thanks for the explanation.",
        "Thanks a lot, have a nice day!",
        "Thank you, that's clear.",
        "Thanks, that's all I wanted to know.",
    ),
    "E_BUNDLE": (
        "Thank you for putting that together.",
        "Thanks, I'll go through that list.",
        "Thanks, that saves me a lot of planning.",
        "Thank you, I can get started then.",
        "Thanks a lot, have a nice day!",
        "Okay, thank you for your help.",
    ),
    "E_JOURNEY": (
        "Thank you for all your help.",
        "Thanks, that was everything.",
        "Thanks a lot, have a nice day!",
        "Thank you for your patience with me.",
        "Okay, that's all for today. Thanks!",
        "Thanks for everything.",
    ),
}

QUITS: dict[str, tuple[str, ...]] = {
    "E_SUB": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll wait until it's back.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't helping, I'll try another shop.",
        "That's enough for me, goodbye.",
    ),
    "E_RETURN": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll write to your returns department.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't working, I'll call your hotline.",
        "That's enough for me, goodbye.",
    ),
    "E_STATUS": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll look it up myself.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't helping, I'll call your hotline.",
        "That's enough for me, goodbye.",
    ),
    "E_POLICY": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll read the small print myself.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't helping, I'll ask somebody else.",
        "That's enough for me, goodbye.",
    ),
    "E_BUNDLE": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll put it together myself.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't helping, I'll try another shop.",
        "That's enough for me, goodbye.",
    ),
    "E_JOURNEY": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll stop here.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't working, I'll try another day.",
        "That's enough for me, goodbye.",
    ),
}

# Who asks the shop something has nothing to like or to choose.
_ANSWERS_FINE = (
    "So far so good.",
    "Okay, I see.",
    "That seems fine to me.",
    "Good, go on.",
    "All right so far.",
    "I've no objections.",
)
SHOWN_FINE: dict[str, tuple[str, ...]] = {
    "E_RETURN": _ANSWERS_FINE,
    "E_STATUS": _ANSWERS_FINE,
    "E_POLICY": _ANSWERS_FINE,
}

_VOLUNTEERED = (
    "By the way,",
    "Oh, and",
    "While we're at it,",
    "I should add:",
    "That reminds me:",
    "Something else:",
    "It may help to know:",
    "In case you need it:",
)
ELABORATE: dict[str, tuple[str, ...]] = {"E_RETURN": _VOLUNTEERED, "E_STATUS": _VOLUNTEERED, "E_POLICY": _VOLUNTEERED}

# Asked about something there is nothing to tell about: a shopper has no preference, these have no knowledge.
_DO_NOT_KNOW_ABOUT = (
    "I can't tell you anything about the {about}.",
    "The {about}? I don't know, sorry.",
    "I have nothing to say about the {about}.",
    "I'm afraid I don't know about the {about}.",
    "No idea about the {about}, to be honest.",
    "I couldn't say anything about the {about}.",
)
_DO_NOT_KNOW = (
    "I'm not sure, to be honest.",
    "I don't know, sorry.",
    "I couldn't say.",
    "I can't help you there.",
    "No idea, to be honest.",
    "Hard to say, I don't know.",
)
UNSURE_ABOUT: dict[str, tuple[str, ...]] = {
    "E_RETURN": _DO_NOT_KNOW_ABOUT,
    "E_STATUS": _DO_NOT_KNOW_ABOUT,
    "E_POLICY": _DO_NOT_KNOW_ABOUT,
}
UNSURE: dict[str, tuple[str, ...]] = {"E_RETURN": _DO_NOT_KNOW, "E_STATUS": _DO_NOT_KNOW, "E_POLICY": _DO_NOT_KNOW}

# What is said when there is no head to open with.
OPENINGS: dict[str, tuple[str, ...]] = {
    "E_RETURN": ("I have something to send back", "can you help me with a return?"),
    "E_STATUS": ("I have a question about an order", "can you look up an order for me?"),
    "E_POLICY": ("I have a question about your rules", "can you tell me something about your rules?"),
}

# A journey: another subject before this one is closed, back to it, and the next one after an answer. Each stands as
# a sentence, since the opening of the other subject follows.
SUBJECT = (
    "Something else before we go on.",
    "Wait, before we go on with that, another thing.",
    "Let me ask you something different in between.",
    "Can we put that aside for a moment?",
    "Sorry to interrupt, I've just thought of something else.",
    "Hold that for a moment, there's another thing.",
    "Just a moment, something different first.",
)
BACK = (
    "Back to {what}, then.",
    "Now, back to {what}.",
    "Good, let's go on with {what}.",
    "Let's return to {what} now.",
    "So, where were we with {what}?",
    "And now back to {what}, please.",
    "We still have to settle {what}.",
)
NEXT = (
    "Thanks! One more thing.",
    "Thank you. There's something else.",
    "Good, thanks. Next thing.",
    "Thanks for that. While I have you here, another thing.",
    "Okay, thank you. Then there's this.",
    "Great, thanks. I have another matter.",
    "Thank you! Now to something else.",
)
# What a subject is called when the customer comes back to it and no words were given.
SUBJECT_NAMES = {
    "E_PD": "my search",
    "E_SUB": "the substitute",
    "E_CART": "my cart",
    "E_RETURN": "my return",
    "E_STATUS": "my order",
    "E_POLICY": "my question",
    "E_BUNDLE": "my project",
}
