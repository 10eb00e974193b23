"""What stands round the matter in a first message: a greeting, a remark about the customer's situation, a last word.

How often each is said, and in which words, depends on the persona. ``[this|that|]`` leaves a choice, see `words.pick`.
Nothing here may sound like a wish (no time, money, looks or reviews), since the ledger does not know of it.
"""

from __future__ import annotations

from typing import NamedTuple

from ecomrlve.customer.words import pick
from ecomrlve.streams import Stream


class _Odds(NamedTuple):
    greeting: float
    remark: float
    closing: float


_ODDS = {
    "terse": _Odds(0.45, 0.0, 0.5),
    "chatty": _Odds(0.95, 0.85, 0.5),
    "hurried": _Odds(0.8, 0.1, 0.55),
    "polite": _Odds(0.95, 0.3, 0.75),
    "unsure": _Odds(0.85, 0.4, 0.55),
    "": _Odds(0.65, 0.25, 0.35),
}

# A greeting that ends in a comma, colon or dash goes on in the same sentence.
_HELLO = "[Hi|Hello|Hey|Hi there|Hello there]"
_DAY = "Good [day|morning|afternoon|evening]"
GREETINGS: dict[str, tuple[str, ...]] = {
    "": (
        f"{_HELLO}[!|,|.]",
        f"{_HELLO}[!|,]",
        f"{_DAY}[!|,|.]",
        f"{_HELLO} [again|everyone|team][!|,|.]",
    ),
    "terse": ("[Hi|Hello|Hey|Morning|Evening|Hiya][.|,|!]", "[Hi|Hello|Hey][.|,]"),
    "chatty": (
        "[Hi|Hey|Hello] there[!|, lovely to meet you!|, nice to find someone here!]",
        "[Hey|Hi|Hello], how[ are you| are you doing| is it going|'s your day been|'s everything]?",
        "[Hello|Hi|Hey], [hope you're well|hope you're having a good day|hope all is well with you][!|.]",
        "[Good to|So good to|Nice to|Glad to] find [you|somebody|someone] here!",
        f"{_DAY} [to you|to all of you|from a rainy town|from my kitchen table]!",
        "[Oh good|Ah great|Lovely], [somebody's|someone's|a real person is] here[!|.]",
    ),
    "hurried": (
        "[Hi|Hey|Hello|Morning], [quick one|short on time|in a rush here|got two minutes|just quickly|no time to lose]:",
        "[Hi|Hey|Hello], I'm [in a rush|in a hurry|short of time|between two meetings|about to leave|on my way out]:",
        "[Quick one|In a hurry|In a rush|No time to browse|Between meetings]:",
        "[Hi|Hey|Hello|Morning][,|!]",
    ),
    "polite": (
        f"{_DAY}[!|.| to you!| to you.]",
        "[Hello|Hi|Good day], I [hope|was hoping|wonder whether] you can help me.",
        "[Hello|Hi|Good day], [thank you|many thanks|thanks] for [your time|taking the time|being here|your help][!|.]",
        "[Hello|Hi|Good day], [excuse me|pardon me|forgive me] for [bothering|disturbing|troubling] you[!|.]",
        "[Dear|Hello, dear] [team|shop team|customer service],",
        "[Hello|Hi|Good day], I would [appreciate|be grateful for|be glad of] [some|your|a little] help.",
    ),
    "unsure": (
        "[Hi|Hello|Hey], [hmm|er|um|well|uh|let me see|how do I start],",
        "[Hi|Hello|Hey], I'm [not too good|no good|rather new|a bit lost|not sure of myself] at this, but",
        "[Hi|Hello|Hey], I [hope|think] [this is|I'm in] the right [place|chat][.|, so:| to ask.]",
        "[Hi|Hello|Hey], [sorry if|forgive me if|tell me if] I [get this wrong|ask something silly|put this badly].",
        "[Hi|Hello|Hey][,|.|!]",
    ),
}

_ANYBODY = (
    "I've put [this|it] off for [ages|weeks|far too long|too long|months].",
    "It's my first [time|visit] [in this shop|here|on your site|in this chat].",
    "A [friend|colleague|cousin|neighbour|relative] of mine [told me about|is very happy with|swears by] [this|your] shop.",
    "I finally have a [moment|minute|quiet hour|little time] [for this|to deal with this|to ask].",
    "I'm on my [lunch|coffee|tea] break[, so I thought I'd ask|, so here I am| right now].",
    "My [partner|flatmate|mother|brother|better half] keeps [reminding|nagging] me about [it|this].",
    "It's [raining|pouring|grey] here[, so I might as well get this done|, a good day for errands|, so I'm at my desk].",
    "I'm [clearing|working through|finally tackling] my [to-do list|list of errands|pile of small jobs].",
    "I [promised|told] myself [to get this done today|I'd sort this out this week|I wouldn't put it off again].",
    "I usually leave [this sort of thing|things like this|errands like this] to [others|my partner|somebody else].",
    "[The kids are asleep|The house is quiet|Everyone's out], so I [can|finally] [think|get to this|sit down for this].",
    "I've got my [coffee|tea] [next to me|here] and [the afternoon off|nothing else planned|time to talk].",
)
_LOOKING = (
    "I've been [looking|searching|browsing] around for a while [without luck|and got nowhere|and can't decide].",
    "There are too many [choices|options|pages|tabs open], I [gave up|got lost|lost track].",
    "I'm [not much of a|no great|hardly a|anything but a seasoned] shopper[, I'm afraid|, to be honest|].",
    "I saw something [like that|of the kind] at a friend's [place|house|home] [and want it too|and was impressed|].",
    "[We've|I've] just moved [house|into a new flat|in with a friend] [and much is missing|and it shows|].",
    "I'd rather [ask|talk to] [somebody|a human|someone] than [scroll|read|click] through [everything|all of it|pages].",
)
REMARKS: dict[str, tuple[str, ...]] = {
    "E_PD": (*_ANYBODY, *_LOOKING),
    "E_CART": (
        *_ANYBODY,
        "I [looked at|saw|picked out] a few things here [the other day|last night|yesterday|last week].",
        "I [browsed your shop|was on your site|went through your pages] [earlier|last night|this morning|on the train].",
        "I've [seen what I like|made up my mind|decided], now I [just|only] need it [ordered|in the cart|put together].",
        "I [closed the tab|lost my cart|got logged out] [before|just when|while] I was [done|ordering|nearly finished].",
    ),
    "E_SUB": (
        *_ANYBODY,
        "I should have ordered [earlier|sooner|it last week][, it seems|, I know|].",
        "[Just|That's just] my luck.",
        "I'd been [looking forward to|counting on|saving up for] it.",
        "I had my heart set on [something|it|that one].",
        "I've checked your page [three times|every day|again and again] [today|this week|by now].",
        "[What a pity|Such a shame|That's a pity|How annoying], [I liked it|it was just right|I had it on my list].",
    ),
    "E_RETURN": (
        *_ANYBODY,
        "I hope this [won't take long|isn't too much trouble|is the right place|can be sorted here].",
        "I couldn't find [out on your site how this works|the form for this|the right page for this].",
        "I've just [logged in to|opened] my account [and don't know where to click|and got stuck|].",
        "I'd rather [ask somebody|talk to someone|do this with you] than fill in [a form|forms].",
        "[Let's see whether|Let's hope|I'm curious whether] you can help me.",
        "I [don't like|hate|never like] [sending things back|returning things|doing this], [but there we are|but so be it].",
    ),
    "E_STATUS": (
        *_ANYBODY,
        "I'm [clearing up|going through|tidying up] my orders [today|right now|this evening].",
        "I've [rather lost track|lost track a bit|no overview] of my orders.",
        "I may [just|simply] have [missed|overlooked|deleted] [a message|an email|something] from you.",
        "I'm not sure where to [look it up|find it|look][ on your site|].",
        "I'd rather ask [somebody|you] than [click around|guess|search my mailbox].",
        "I hope this is a [quick|simple|short] one.",
        "[There's nothing|I see nothing|I found nothing] [about it|new] in my [mailbox|inbox|account].",
        "I keep [refreshing the page|looking out of the window|checking my mailbox][, silly as it is| all day|].",
    ),
    "E_POLICY": (
        *_ANYBODY,
        "I read your help pages and [got lost|am none the wiser|gave up|got confused].",
        "I [couldn't make|can't make] [sense|head or tail] of the small print.",
        "I'd rather ask [before I do something wrong|now than be sorry later|first|than guess].",
        "I hope this is a [quick|simple|short] one.",
        "[A friend|Somebody|My sister|A colleague] told me something else, so [I'd better|I thought I'd] ask.",
        "I like to know [where I stand|the rules|what I'm in for][ beforehand|].",
        "[I couldn't find|I can't find|I see nothing about] it [anywhere|on your site|in the help pages].",
        "[It's probably|I'm sure it's|Surely it's] [written somewhere|on some page of yours|an easy one for you].",
    ),
    "E_BUNDLE": (
        *_ANYBODY,
        "I'm starting from [scratch|zero|nothing].",
        "I've wanted to do this for [a long time|ages|years].",
        "I've made a list so that [I forget nothing|nothing gets forgotten|I don't lose track].",
        "I'd like to get [it all|everything|the whole lot] [in one go|from one shop|in one place].",
        "I hope you can [put it together|gather it all|work it out] for me.",
        "[I don't know where to begin|It's a bit much to do alone|There's so much to think of].",
    ),
}

_THANKS = "[Thanks|Thank you|Many thanks|Cheers]"
CLOSINGS: dict[str, tuple[str, ...]] = {
    "": (
        f"{_THANKS}[!|.| in advance.| in advance!| for your help.]",
        "[Can|Could] you help[| me| me out| with that]?",
        "[I hope you can help|I'd be glad of your help|Your turn|Over to you].",
    ),
    "terse": (
        "[Thanks|Thank you|Cheers|Ta|Please|Thx|Much appreciated|That's it for now][.|!|]",
        "[Can you help|Possible|Any luck|Well]?",
        "[Go ahead|Over to you|Your turn|Waiting].",
    ),
    "chatty": (
        "[I'm all ears|I'm curious what you'll say|I can't wait to hear from you|I'm so curious][!|.]",
        "[What do you think|What do you say|How does that sound|Is that something you can do]?",
        "[I know, I talk too much|Sorry for the long story|Enough from me][, over to you|, now it's your turn|][!|.]",
        "[Thanks|Thank you] [in advance|so much|already|for listening][, you're a star|]!",
        "[I'm sure|I bet|I have a feeling] you [know what to do|can help|know your way around][!|.]",
    ),
    "hurried": (
        "[Quick answer|Short answer|Just the essentials|Keep it short|Straight to the point], please[.|!]",
        "[Thanks|Thx|Cheers][, I'm in a rush|, have to run|, no time for more|, gotta go|][!|.]",
        "[Can you do that|Can you manage that|Is that doable|Any chance]?",
        "[I don't have long|I have to run|My train leaves in a minute|My break is nearly over]"
        "[, sorry|, so let's go|, so go ahead|].",
    ),
    "polite": (
        "[Thank you|Thank you very much|Thank you so much|Many thanks] [in advance|for your help|for your trouble|for your"
        " kind help][.|!]",
        "I would [very much|really|] [appreciate|be grateful for|be glad of] [your help|your advice|any help].",
        "[Would|Could] you be so kind [as to help me|as to look into it]?",
        "[Please take your time|There is no need to hurry on my account|I am happy to wait][.|, of course.]",
        "[Best|Many] regards.",
    ),
    "unsure": (
        "[Does that make sense|Is that clear enough|Do you know what I mean|Is that enough to go on]?",
        "[I hope that makes sense|I hope that's clear|I hope I put that right|I don't know how else to put it].",
        "[Maybe|Perhaps] you can [help|guide me|point the way|ask me what you need to know][.|?]",
        "[I might have|I may have|I've probably] [forgotten something|left something out|missed something].",
    ),
}
_OWN: dict[str, tuple[str, ...]] = {
    "E_PD": (
        "[What|Which] would you [suggest|recommend|go for]?",
        "[Let me know|Tell me] what you [find|have|come up with].",
        "[What have you got|What do you have|Anything that comes to mind|Where should I look]?",
    ),
    "E_SUB": (
        "[What|Which] would you [suggest|take|go for] [instead|in its place]?",
        "[Let me know|Tell me] what [comes close|else there is|you can find].",
        "[Is there anything|Have you got anything|Anything] that comes close?",
    ),
    "E_CART": (
        "[Let me know|Tell me] [once|as soon as] it's [done|ready|in the cart].",
        "[Can|Could] you [put that together|do that|take care of that][| for me]?",
        "[I'll|I can] check [it over|the cart] [afterwards|later|when you're done].",
    ),
    "E_RETURN": (
        "How do we [go about|do|handle|start with] [this|it]?",
        "[What do I need to do|What happens next|What are the next steps|Can it be done]?",
        "[Can|Could] you [sort|arrange|handle|set up] [that|it][| for me]?",
    ),
    "E_STATUS": (
        "[Can|Could] you [check|look|have a look|find out][| for me]?",
        "I'd [just like|love|simply like] to know.",
        "[What can you tell me|What do you see on your side|Any news|What does your system say]?",
    ),
    "E_POLICY": (
        "[Can|Could] you [check|look that up|clear that up|have a look][| for me]?",
        "I'd [just like|love|simply like] to [know|be sure|be certain].",
        "[What do your rules say|What does the small print say|What's the rule there|How do you handle that]?",
    ),
    "E_BUNDLE": (
        "[What|Which ones] would you [suggest|recommend|pick]?",
        "[Can|Could] you [put that together|pick something|work that out][| for me]?",
        "[Let me know|Tell me] what you [come up with|find|have].",
    ),
}
_OWN_CHANCE = {"polite": 0.3, "chatty": 0.35, "hurried": 0.3}


def greeting(style: str, stream: Stream) -> str:
    """How the customer says hello, or empty."""
    if not stream.chance(_ODDS[style].greeting):
        return ""
    plain = style and style != "terse" and stream.chance(0.2)
    return pick(GREETINGS["" if plain else style], stream)


def remark(style: str, env: str, stream: Stream) -> str:
    """A sentence about the customer's situation, or empty."""
    return pick(REMARKS.get(env, _ANYBODY), stream) if stream.chance(_ODDS[style].remark) else ""


def closing(style: str, env: str, stream: Stream) -> str:
    """A last sentence, or empty."""
    if not stream.chance(_ODDS[style].closing):
        return ""
    own = _OWN.get(env)
    return pick(own if own and stream.chance(_OWN_CHANCE.get(style, 0.45)) else CLOSINGS[style], stream)
