"""The customer's stock of sentences, by act. `grammar` fills in what they are about.

Fields: {np} a noun phrase with its article, {list} the items, {name} an item with "the", {bare} the same without,
{is}/{it} agree with that item.
A lead that ends in a comma, colon or dash goes on in the same sentence; any other stands alone.
"""

from __future__ import annotations

STYLES = ("terse", "chatty", "hurried", "polite", "unsure")

# Openings. A question mark at the end stays; everything else ends as a statement.
PD_NEEDS = (
    "[I'm|I am] [looking|searching|hunting|on the hunt|shopping] for {np}",
    "I [need|want|would like|could use|am after] {np}",
    "[can|could] you [help me find|show me|find me|point me to|track down] {np}?",
    "do you [have|sell|carry|stock] {np}?",
    "I'd [like|love|want] to [buy|get|order|have] {np}",
    "I'm in the market for {np}",
    "[can|could|would] you [recommend|suggest] {np}?",
    "I [want|plan|have decided|am planning|was hoping] to [get|buy] {np}",
    "[what|which] would you [suggest|recommend|show me] if I [wanted|needed|were after] {np}?",
    "please [find me|help me find|show me] {np}",
    "[any chance|is there any chance] you [sell|have|carry] {np}?",
    "help me [choose|pick|find] {np}, please",
    "[what I need is|it's time for|I've set my mind on|I've decided on|on my list today:] {np}",
    "[I'd appreciate help|I need a hand|I could use some advice] [finding|choosing|picking] {np}",
    "[where do I find|do you know where I can find|have you got|would you have] {np}?",
    "[a friend|my partner|somebody] said you might have {np}",
)
PD_TERSE = (
    "[looking|searching|hunting|shopping] for {np}",
    "{noun} [wanted|needed|please|, if you have any]",
    "[need|want|after|buying|seeking] {np}",
    "{noun}",
    "[do you have|got|have you got|any chance of] {np}?",
    "[find me|show me|get me] {np}",
    "[wanted|needed|topic|searching|in search of|request]: {noun}",
)
CART_NEEDS = (
    "I [need|want|would like] {list}",
    "please [put|place|drop] {list} [in|into] [my|the] cart",
    "[can|could|would] you [add|put] {list} [to|in] [my|the] cart?",
    "I'd like to [order|buy|get] {list}",
    "here's [my list|what I need|my order|what I'm after]: {list}",
    "[I want|I'm hoping|I plan] to [buy|order|get] {list}",
    "[can|could] you get me {list}?",
    "please [help me order|order me|sort me out with] {list}",
    "what I [need|want|came for|have on my list] is {list}",
    "let's [get|put] {list} [into|in] the cart",
    "I'd like {list}, please",
    "I'm here [to order|to buy|for] {list}",
    "[would|could] you fill my cart with {list}?",
    "[I've come for|I've settled on|I've decided on|my choice is] {list}",
    "[my shopping list today|on my list|today's list|the list]: {list}",
    "[may|can] I have {list}?",
)
CART_TERSE = (
    "[need|want|ordering|buying|get me] {list}",
    "[for the cart|into the cart|cart|to order|order|to buy]: {list}",
    "{list}[, please|, thanks||, that's the list|, for my cart]",
    "[shopping list|list|my list|the list]: {list}",
    "[add|order|put in|please add|please order] {list}",
    "[can I get|can I have|could I get] {list}?",
)

# A list, one thing at a time.
LIST_FIRST = (
    "[first|first of all|to begin with|for a start], I [need|want|would like] {name}",
    "I'd like to order [several|a few] things: {name} [to begin with|for a start|first]",
    "[please start with|let's start with|the first thing is] {name}",
)
LIST_NEXT = (
    "then {name}",
    "[next|also|then there's|after that], {name}",
    "[then|next] I [need|want|would like] {name}",
    "{name} as well",
    "and {name}, [too|please]",
)
LIST_LAST = (
    "[and finally|and last|finally|lastly], {name}",
    "and {name}, [that's the last one|that's the end of the list]",
    "[the last thing is|and the last thing is] {name}",
)

LEADS: dict[str, tuple[str, ...]] = {
    "clarify": (
        "", "", "Sure.", "Good question.", "Right,", "Oh, I should have said:", "Let me think.", "Well,", "Of course.",
        "Ah yes,",
    ),
    "elaborate": (
        "By the way,", "Oh, and", "While we're at it,", "I should add:", "That reminds me:", "Something else:",
        "Looking at these,", "Now that I see them:",
    ),
    "sold_out": (
        "Oh, a pity.", "I was afraid of that.", "I see what's left in stock.", "Just in case:", "Good to know.",
        "As to what's sold out:", "Then let me add:",
    ),
    "hasty": (
        "Wait, one more thing:", "Hold on,", "Not so fast, I haven't told you everything:", "Before you settle it:",
        "One moment, there's something you should know:", "Just a second,", "Hang on, I left something out:",
    ),
    "late": (
        "Before we run out of time:", "Let me tell you the rest:", "Just so you know everything:",
        "To make it complete:", "Here's everything I haven't said yet:", "I should have told you this sooner:",
        "So that nothing is missing:",
    ),
    "repeat": (
        "As I said,", "Like I said before:", "I already told you:", "Again,", "As I mentioned,", "Once more:",
        "To say it again:", "I think I said this already:",
    ),
    "correct": (
        "", "", "Hmm,", "Not quite.", "Wait,", "Sorry, that's not right.", "Almost, but", "There's a problem:",
        "Something's off:", "No,",
    ),
    "quit": (
        "For the record,", "Just so you know:", "What I wanted, in case it still helps:",
        "What you never asked:", "To be clear:", "All I wanted to add:",
    ),
    "more": ("", "", "Also,", "And"),
}  # fmt: skip

# Where something was said before.
SAID: dict[str, tuple[str, ...]] = {
    "start": (
        "As I [said|wrote] [at the start|in my first message|right at the beginning],",
        "[That was|It was] in my first message:",
        "I [said|wrote|mentioned] that [at the start|in my first message|when we began]:",
    ),
    "just now": (
        "As I just said,",
        "I [only just|just now] told you:",
        "[Like|As] I said [a moment ago|in my last message],",
    ),
    "earlier": (
        "As I said [earlier|before|a while ago|some messages ago],",
        "I [mentioned|said|told you] that [earlier|before|a while ago]:",
    ),
}
# In front of what an agent took to be so: all of it right, none, or some.
AGREE: dict[str, tuple[str, ...]] = {
    "yes": (
        "Yes,",
        "[Yes|Right|Exactly|Correct|That's right][.|,|:]",
        "[You've got it|You've understood me][:|.]",
    ),
    "no": (
        "No,",
        "[No|Not quite|Not exactly|Wait, no|Hm, no][,|:|.]",
        "[That's not it|That isn't right|You've got that wrong][:|.]",
    ),
    "almost": (
        "Almost:",
        "[Almost|Nearly|Not all of it|Partly][:|, but|.]",
        "[Nearly right|Mostly right|Close][, but|:]",
    ),
}

CONFIRMS: dict[str, tuple[str, ...]] = {
    "E_CART": (
        "Yes, that's exactly it.",
        "Perfect, the cart is just right now.",
        "That's everything, and it's all correct.",
        "Yes, the cart has what I wanted.",
        "Great, nothing to change in the cart.",
        "Looks right to me, you can go ahead with that cart.",
        "That's my whole order, thank you.",
        "All good, that's what I asked for.",
    ),
    "E_PD": (
        "Yes, that's exactly it.",
        "Perfect, those fit what I had in mind.",
        "That's just what I was looking for.",
        "Yes, these are right.",
        "Great, I'm happy with those.",
        "These all suit me, well found.",
        "All good, those tick every box.",
        "Wonderful, that's what I meant.",
    ),
}
# After an answer, where the talk goes on.
GO_ON = ("[Good|Great|Okay|All right|Perfect|Fine|Right].", "[That's settled|That's clear|That helps|Good to know].")
THANKS: dict[str, tuple[str, ...]] = {
    "E_CART": (
        "Thanks, that's great!",
        "Thank you for putting that together.",
        "Great, I'll check out now. Thanks!",
        "Thank you, that was easy.",
        "Wonderful, thanks for your help with the order.",
        "Thanks a lot, have a nice day!",
        "Done then. Thank you!",
    ),
    "E_PD": (
        "Thanks, that's great!",
        "Thank you for the suggestions.",
        "Great, I'll take a closer look at those. Thanks!",
        "Thank you, that saves me a lot of searching.",
        "Wonderful, thanks for your help.",
        "Thanks a lot, have a nice day!",
        "That helps, thank you!",
    ),
}
NOTHING_ELSE: tuple[str, ...] = (
    "No, that's everything.",
    "Nothing else, I've told you all I need.",
    "That's all from me.",
    "No, there's nothing to add.",
    "I think you know everything now.",
    "That was it, nothing more.",
    "Nothing more from me.",
    "Nothing else comes to mind.",
)
UNSURE_ABOUT = (
    "I don't really mind about the {about}.",
    "The {about}? No preference, really.",
    "I have no particular wish as to the {about}.",
    "Any {about} is fine with me.",
    "I haven't thought about the {about}, it's up to you.",
    "I can't say I care much about the {about}.",
    "Whatever {about} you think best.",
)
UNSURE = (
    "I don't really mind.",
    "I'm not sure, to be honest.",
    "No preference there.",
    "That's up to you.",
    "I haven't thought about it.",
    "I couldn't say, anything is fine.",
    "Hard to say, I leave that to you.",
)
GIVE_UP = (
    "Skip {name} then.",
    "Never mind {name}, I'll do without.",
    "Let's forget about {name}.",
    "I give up on {name}, leave {it} out.",
    "This isn't working out with {name}, just drop {it}.",
    "Forget {name}, I'll get {it} somewhere else.",
    "No {bare} then, let's move on.",
)
QUITS: dict[str, tuple[str, ...]] = {
    "E_CART": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere with this order, I'll stop here.",
        "I've run out of patience, I'll order somewhere else.",
        "Let's leave it, I don't have time for this.",
        "This isn't working, I'll do my shopping another day.",
        "That's enough for me, goodbye.",
    ),
    "E_PD": (
        "I'm leaving it at that, this takes too long.",
        "We aren't getting anywhere, I'll look somewhere else.",
        "I've run out of patience, sorry.",
        "Let's leave it, I don't have time for this.",
        "This isn't helping, I'll try another shop.",
        "That's enough for me, goodbye.",
    ),
}
CHATS: dict[str, tuple[str, ...]] = {
    "shown_fine": (
        "That looks good so far.",
        "So far so good.",
        "Nothing wrong with that.",
        "That seems fine to me.",
        "Okay, I like what I see.",
        "Good, go on.",
        "I've no complaints about that.",
    ),
    "working": (
        "Take your time.",
        "Okay, I'll wait.",
        "Sure, go ahead.",
        "All right, let me know what you find.",
        "Fine, I'm still here.",
        "No rush, carry on.",
        "Sounds good, I'm curious.",
    ),
    "greeting": (
        "Hello to you too!",
        "Hi, nice to meet you.",
        "Hey, good to have someone to ask.",
        "Thanks, I'm doing well.",
        "Hello again, shall we get on with it?",
        "Nice to hear from you, let's go on.",
    ),
    "other": (
        "Okay.",
        "I see.",
        "All right, if you say so.",
        "Hmm, okay, go on.",
        "Good to know.",
        "Fine with me, please carry on.",
        "Understood.",
    ),
}
SWITCH = (
    "Actually, I've changed my mind:",
    "On second thought,",
    "I've been thinking about it again, and",
    "Change of plan:",
    "Sorry to change this now, but",
    "Scratch what I said earlier,",
    "You know what,",
)
INSTEAD = ("{new} instead of {old}", "{new}, not {old} any more", "{new} rather than {old}")

# What a hesitant or a polite customer puts round what it says.
HESITATIONS = ("Hmm,", "Let me see,", "Er,", "Come to think of it,")
KIND_WORDS = ("That would be kind.", "I'd be grateful.", "I hope that's possible.", "I appreciate your help.")

# Items, apart from the opening. {mods} is ", in size XS" or the like; {what} a list of notes.
ITEM_NEEDS = (
    "I need {thing}",
    "I want {thing}",
    "I'd like {thing}",
    "please get me {thing}",
    "make it {thing}",
)
ITEM_NOTES = (
    "for {name}: {what}",
    "{name}: {what}",
    "as for {name}, {what}",
    "about {name}: {what}",
    "{name}, please: {what}",
)
IF_GONE = (
    "if {name} {is} gone, {then}",
    "if {name} {is} sold out, {then}",
    "should {name} be sold out, {then}",
    "in case {name} {is} out of stock, {then}",
    "{then}, if {name} {is} gone",
    "if you can't get {name} because {it_is} sold out, {then}",
)
THEN_VARIANT = ("{v} is fine instead", "{v} will do as well", "I'd take {v} instead", "please take {v}")
THEN_PRODUCT = ("take {v} instead", "I'd take {v} instead", "please get {v} in its place", "{v} will do")
THEN_DROP = (
    "just leave {it} out",
    "just skip {it}",
    "drop {it}",
    "forget about {it}",
    "don't bother with something else, leave {it} out",
)

LOOSE_FRAMES = (
    "I'd like {one} {mods}",
    "I need {one} {mods}",
    "I want {one} {mods}",
    "please look for {one} {mods}",
    "I'm after {one} {mods}",
    "it's got to be {one} {mods}",
)
AND_ALSO = ("{first}, and {second}", "{first} and {second}", "{first}; {second}")
NOTHING_NEW = (
    "I've told you all of that already.",
    "As I said, nothing has changed.",
    "It's still the same as before.",
    "I have nothing new to tell you.",
    "Same as I told you earlier.",
    "You have all of it already.",
)
NOT_RIGHT = (
    "that isn't what I asked for",
    "this doesn't fit yet",
    "something there isn't right",
    "that's not it yet",
    "please look at it again",
    "I don't think that's what I need",
)
