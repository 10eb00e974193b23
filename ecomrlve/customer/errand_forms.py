"""The stock of clauses for orders, returns, questions about the rules, substitutions and projects, by kind of slot.

Fields: {v} the value, {it}/{obj} what is spoken of as subject and object, {was}/{it_was}/{its} agree with it, {np} a
noun phrase with its article, {title} a product with "the", which {is}/{it}/{it_is} agree with.
"""

from __future__ import annotations

ORIGINAL = (
    "{title} {is} [sold out|out of stock|gone], [can|could] you find me something like {it}?",
    "I [wanted|was after|had picked|meant to order] {title}, but {it_is} [sold out|out of stock], what comes close?",
    "do you have [something similar to|something like|anything close to] {title}? I see {it_is} [sold out|out of stock]",
    "I was [going|about|all set|planning] to buy {title}, but {it_is} [sold out|out of stock]; I need something like {it}",
    "{title} {is} out of stock, so I'm [looking for|after|in need of] the next best thing",
    "[since|as|now that] {title} {is} sold out, I [need|want|am looking for|could use] a substitute",
    "{title} {is} not available any more, I [want|need|would like] something as close to {it} as possible",
    "I'm looking for [a replacement|a substitute|an alternative] for {title}, which I can't get because {it_is} sold out",
    "what would you [suggest|recommend|offer me|take] instead of {title}? {Is} [sold out|out of stock]",
    "[a pity|what a pity|sadly|unfortunately], {title} {is} sold out; I [need|want|would like] something [similar|close to {it}|like {it}]",
    "[your page says|I read|I see|it seems] that {title} {is} sold out, [so what else is there|what else would do|what is the next best]?",
)
# It cannot be had, so nothing may sound as if it were wanted.
WHICH_ORIGINAL = (
    "by {name} I mean {what}",
    "with {name}, I mean {what}",
    "{name} I wanted was {what}",
    "when I say {name}, I mean {what}",
    "as to which one is sold out: {name}, {what}",
    "it's {what} that I mean by {name}",
)
SENDBACK = (
    "I'd like to [send back|return] {np} I [bought|ordered|got from you]",
    "I [want|need|have] to [return|send back] {np}",
    "I have {np} [to send back|to return|that needs to go back|that I want to return]",
    "[can|could|may] I [send back|return] {np} I [got from you|bought here|ordered]?",
    "I need to send {np} back to you",
    "[could|can|would] you help me [return|send back] {np}?",
    "I'd like to give back {np} that I [ordered|bought|got]",
    "there {is} {np} I'd like to [send back to you|return|send back]",
    "[how can I|how do I|what do I do to] [return|send back] {np}?",
    "[I'm writing|I'm here|it's] about {np} that [has to go back|I want to return|I'd like to send back]",
    "[help me with a return|I need help with a return|it's about a return|I have a return], please: {np}",
    "[I've decided|I've made up my mind|I'm going] to [return|send back] {np}",
)
SENDBACK_TAILED = (
    "I'd like to [send back|return|give back] {np}{tail}",
    "I [want|need|have] to [return|send back] {np}{tail}",
    "I'm [sending back|returning] {np}{tail}",
    "[could|can|would] you help me [return|send back] {np}{tail}?",
    "[it's about|this is about|I'm writing about] {np}{tail} that I [want to return|would like to send back]",
    "[to return|return|sending back|going back]: {np}{tail}",
)
ORDER = (
    "where is my order[| now| at the moment]?",
    "where has my order [got to|gone]?",
    "I have [a question|a small question|a quick question] about [an order of mine|one of my orders|my order]",
    "[can|could|would] you [look up|check|track down|find] [an order for me|my order|one of my orders|an order of mine]?",
    "I'd [like|love] to know [what's happening|what's going on|what's up|how things stand|where we are] with my order",
    "how far along is [my order|that order of mine]?",
    "it's about [an order of mine|my order|one of my orders], I'd like to know [its status|where it is|how it stands]",
    "I'm [waiting|still waiting|curious|keen] to hear about [an order of mine|my order|one of my orders]",
    "please [look up|check|check on|have a look at|track down] [an order for me|my order|one of my orders|an order of mine]",
    "what's the [status of|state of|current status of|latest on] my order?",
    "[can|could] you [check on|find out about|tell me about|tell me the status of] [an order for me|my order|one of my orders]?",
    "[do you know|can you see|can you tell me|any idea] [where my order is|what became of my order|what's up with my order]?",
    "[I wonder|I've been wondering|I'm wondering] [where my order is|what became of my order|how my order is doing]",
    "[any news|is there any news|is there an update|do you have news] [on|about] [my order|an order of mine|one of my orders]?",
    "[I'd like|I need|I was hoping for] [an update|news|some word] [on|about] [my order|an order of mine|one of my orders]",
    "[I'm writing about my order|this is about my order|it's about my order], [where is it|what's its status|how does it stand]?",
    "has [anything|something] happened [with|to] [my order|an order of mine|one of my orders]?",
)
ORDER_TAILED = (
    "where is the order{tail}?",
    "I have [a question|a small question|a quick question] about the order{tail}",
    "[can|could|would] you [look up|check|check on|track down|find] the order{tail} [for me|, please]?",
    "I'd [like|love] to know [what's happening|what's going on|what's up|how things stand|where we are] with the order{tail}",
    "what's the [status of|state of|current status of|latest on] the order{tail}?",
    "[any news|is there any news|is there an update|do you have news] [on|about] the order{tail}?",
    "[it's|this is|I'm here] about the order{tail}, [what's its status|where is it|how does it stand]?",
    "[I'm wondering|I wonder|I've been wondering] about the order{tail}",
    "please [look up|check|check on|tell me about|have a look at] the order{tail}",
    "[do you know|can you see|can you tell me] where the order{tail} is?",
    "how far along is the order{tail}?",
    "[I'd like|I need|I was hoping for] [an update|news|some word] [on|about] the order{tail}",
)
# Clauses that follow "the order" or "an air fryer".
ORDER_TAILS: dict[str, tuple[str, ...]] = {
    "order_id": (" with the number {v}", " with order number {v}"),
    "ordered_on": (" I placed on {v}", " from {v}"),
    "delivered_on": (" that was delivered on {v}", " that arrived on {v}"),
    "bought": (" with {v}", " that has {v} in it"),
}
SENDBACK_TAILS: dict[str, tuple[str, ...]] = {
    "order_id": (" from order {v}", " I bought in order {v}"),
    "ordered_on": (" I bought on {v}", " that I ordered on {v}"),
    "delivered_on": (" that arrived on {v}", " that was delivered on {v}"),
    "paid": (" I paid {v} for", " I bought for {v}"),
}
QUESTION = (
    "I'd [like|love] to [know|find out|ask|hear] {q}",
    "[can|could|would] you [tell me|explain|explain to me|let me know] {q}?",
    "[can|could] you [look up|check|find out|see] {q}?",
    "what I [want to know|need to know|want to ask|would like to know|can't find out] is {q}",
    "do you [know|happen to know] {q}?",
    "please [tell me|look up|check|explain|let me know] {q}",
    "I [need|have] to [find out|know|ask] {q}",
    "[I've been|I keep|I was] [asking myself|wondering|trying to find out] {q}",
    "[my question is|the question is|what I ask myself is] {q}",
    "[I'm wondering|I wonder|I'm curious|I'm not sure|I'm unsure] {q}",
    "[nobody could tell me|I couldn't find out|your site doesn't tell me|I've forgotten|I have no idea] {q}",
    "[any idea|can you say|may I ask|might I ask|could I ask] {q}?",
    "[help me understand|help me find out|it would help me to know|I'd be glad to know] {q}",
    "[just tell me|briefly, tell me|please just tell me] {q}",
)
CHOICES = (
    "is it {choices}?",
    "would that be {choices}?",
    "it could be {choices}, as far as I know",
    "I've heard of {choices}, but I [don't know|forgot|can't tell] which it is",
    "the [choices|options|possibilities] seem to be {choices}",
    "[I suppose|I guess|I think] it's [either|one of these:] {choices}",
)
PROJECT = (
    "I'm [planning|preparing|putting together|setting up] {project}",
    "I'm getting things together for {project}",
    "it's for {project}",
    "I [need|could use|want] [help|a hand|some help] with {project}",
    "what I have in mind is {project}",
)
PROJECT_PARTS = (
    "I'm [planning|setting up|putting together] {project} and [need|still need|am missing|want] {list}",
    "for {project} I [need|still need|want|would like|am missing] {list}",
    "I'm [getting|putting|gathering] things together for {project}: {list}",
    "[can|could|would] you help me with {project}? I [need|still need|want] {list}",
    "I have {project} in mind, and for that I [need|want|still need] {list}",
    "help me [plan|get ready for|set up] {project}, I [still need|need|want|am missing] {list}",
    "what I [need|still need|want|am missing] for {project} is {list}",
    "[could|can|would] you [put together|find|gather|get me] {list} for {project}?",
    "[my list|the list|the shopping list|what's on the list] for {project}: {list}",
    "for {project} [I'm looking for|please find me|what's missing is] {list}",
)
PARTS = (
    "I [need|want|still need] {list}",
    "what it takes is {list}",
    "I'm [looking for|after] {list}",
    "I'd like {list}",
    "it should have {list}",
    "please find me {list}",
)

REFERENCE: dict[str, tuple[str, ...]] = {
    "order_id": (
        "the order number is {v}",
        "it's order {v}",
        "I mean order {v}",
        "you'll find it with order number {v}",
        "my order number is {v}",
        "it's about order {v}",
    ),
    "ordered_on": (
        "I ordered {obj} on {v}",
        "I bought {obj} on {v}",
        "I placed the order on {v}",
        "the order is from {v}",
        "I made that order on {v}",
        "{it_was} ordered on {v}",
    ),
    "delivered_on": (
        "{it} arrived on {v}",
        "{it_was} delivered on {v}",
        "I received {obj} on {v}",
        "the parcel came on {v}",
        "the delivery was on {v}",
        "the parcel arrived on {v}",
    ),
    "paid": (
        "I paid {v} for {obj}",
        "{it} cost {v}",
        "the price was {v} apiece",
        "the price I paid was {v}",
        "{it} cost me {v} apiece",
        "I bought {obj} for {v}",
    ),
    "order_total": (
        "the whole order came to {v}",
        "the order total was {v}",
        "altogether the order cost {v}",
        "the total of that order was {v}",
        "in total I paid {v} for the order",
        "the order came to {v} in total",
    ),
    "bought": (
        "I mean the order with {v}",
        "it's the order with {v}",
        "that order had {v} in it",
        "that order included {v}",
        "it's the order that has {v} in it",
        "I bought {v} in that order",
    ),
    "quantity": (
        "I bought {v} of them",
        "I ordered {v} of them",
        "there were {v} of them in the order",
        "I took {v} of them at the time",
        "I had {v} of them sent to me",
        "the order had {v} of them",
    ),
    "": (
        "{its} the {one} {v}",
        "I mean the {one} {v}",
        "it's the {one} {v} that I mean",
        "I'm talking about the {one} {v}",
        "I bought the {one} {v}",
        "I have the {one} {v}",
    ),
}
# An order is no product: its price and its looks are those of something in it.
OF_AN_ORDER: dict[str, tuple[str, ...]] = {
    "paid": (
        "one of the things in it cost {v}",
        "there's something for {v} in it",
        "I paid {v} for something in it",
        "something in that order cost {v}",
        "it has something in it that I bought for {v}",
    ),
    "": (
        "I ordered something {v}",
        "something {v} was in it",
        "there's something {v} in it",
        "it's the order with something {v}",
        "that order had something {v} in it",
    ),
}
# What goes back is one line of an order: its title says more than which order it is.
OF_A_LINE: dict[str, tuple[str, ...]] = {
    "bought": (
        "it's {v} that I mean",
        "I mean {v}",
        "what I bought was {v}",
        "I'm talking about {v}",
        "it's about {v}",
        "I bought {v}",
    ),
}
LINE_NOTES = ("it's {v}", "I mean {v}")
REFERENCE_NOTES: dict[str, tuple[str, ...]] = {
    "order_id": ("order {v}", "order number {v}", "order number: {v}"),
    "ordered_on": ("ordered on {v}", "bought on {v}", "order placed {v}"),
    "delivered_on": ("delivered on {v}", "arrived on {v}", "delivery date {v}"),
    "paid": ("paid {v} apiece", "price paid: {v}", "cost {v}"),
    "order_total": ("order total {v}", "{v} in total for the order", "total: {v}"),
    "bought": ("the order with {v}", "order has {v} in it"),
    "quantity": ("{v} of them", "quantity {v}", "{v} pieces"),
    "": ("the {one} {v}",),
}
REASON = (
    "{reason}",
    "the reason is simple: {reason}",
    "I'm sending {obj} back because {reason}",
    "why? Because {reason}",
    "the reason for sending {obj} back: {reason}",
    "{reason}, that's the reason",
)
REFUND: dict[str, tuple[str, ...]] = {
    "original_payment": (
        "I'd like the money back the way I paid",
        "the money should go back to my original payment method",
        "please pay it back the same way I paid",
        "I'd like my money back to my original payment method",
        "I'd prefer to get the money the way I paid",
        "send the money back the way I paid, please",
    ),
    "store_credit": (
        "I'd like the money as store credit",
        "store credit is what I'd like for it",
        "please give me store credit for it",
        "you can pay it out as store credit",
        "I'll take store credit for it",
        "I'd prefer store credit",
    ),
}
WISH: dict[str, tuple[str, ...]] = {
    "refund": (
        "I just want to return {obj} for a refund",
        "all I want is a refund",
        "just a refund, please",
        "I only want a refund for {obj}",
        "I don't need another one, I just want a refund",
        "a refund is all I want",
    ),
    "refund_and_suggestion": (
        "I'd like a refund, and please suggest a replacement",
        "I want to return {obj} for a refund and have you suggest another one",
        "please take {obj} back, and suggest something I could buy in its place",
        "I'd like my money back, and your suggestion for a new one",
        "could you suggest a replacement as well? I'll return {obj} for a refund",
        "after the refund I'll buy another one, so please recommend one",
    ),
    "exchange": (
        "I'd like to exchange {obj} for another one",
        "please exchange {obj} for another one",
        "I want to swap {obj} for a different one",
        "an exchange for another one is what I'd like",
        "I'd like another one in exchange",
        "could you exchange {obj}?",
    ),
}
ETA = (
    "and when will it arrive?",
    "when will it be here?",
    "I'd also like to know when it will arrive",
    "can you tell me when it will be delivered?",
    "when can I expect it to arrive?",
    "please tell me when I will get it",
)
BUDGET = (
    "altogether it mustn't cost more than {v}",
    "my budget for everything is {v}",
    "I can spend {v} in total",
    "in total I don't want to spend more than {v}",
    "all of it together should cost {v} at most",
    "{v} is the most I can spend on everything",
)
BUDGET_NOTES = ("total budget {v}", "{v} at most for everything", "max {v} for everything together")
TIE = (
    "{one} and {two} should have the same {label}",
    "{one} must have the same {label} as {two}",
    "I want {one} and {two} with the same {label}",
    "{one} and {two} must match, so the same {label} for both",
    "the {label} must be the same for {one} and {two}",
    "please make sure that {one} and {two} have the same {label}",
)
