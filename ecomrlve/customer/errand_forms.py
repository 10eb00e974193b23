"""The stock of clauses for orders, returns, questions about the rules, substitutions and projects, by kind of slot.

Fields: {v} the value, {it}/{obj} what is spoken of as subject and object, {was}/{it_was}/{its} agree with it, {np} a
noun phrase with its article, {title} a product with "the", which {is}/{it}/{it_is} agree with.
"""

from __future__ import annotations

ORIGINAL = (
    "{title} {is} sold out, can you find me something like {it}?",
    "I wanted {title}, but {it_is} sold out, what comes close?",
    "do you have something similar to {title}? I see {it_is} sold out",
    "I was going to buy {title}, but {it_is} sold out; I need something like {it}",
    "{title} {is} out of stock, so I'm looking for the next best thing",
    "since {title} {is} sold out, I need a substitute",
    "{title} can't be had any more, I want something as close to {it} as possible",
    "I'm looking for a replacement for {title}, which I can't get because {it_is} sold out",
    "what would you suggest instead of {title}? {Is} sold out",
)
# It cannot be had, so nothing may sound as if it were wanted.
WHICH_ORIGINAL = (
    "by {name} I mean {what}",
    "with {name}, I mean {what}",
    "{name} I wanted is {what}",
    "when I say {name}, I mean {what}",
    "as to which one is sold out: {name}, {what}",
    "it's {what} that I mean by {name}",
)
SENDBACK = (
    "I'd like to send back {np} I bought",
    "I want to return {np}",
    "I have {np} to send back",
    "can I send back {np} I got from you?",
    "I need to send {np} back to you",
    "could you help me return {np}?",
    "I'd like to give back {np} that I ordered",
    "there {is} {np} I'd like to send back to you",
)
SENDBACK_TAILED = ("I'd like to send back {np}{tail}", "I want to return {np}{tail}", "I'm sending back {np}{tail}")
ORDER = (
    "where is my order?",
    "I have a question about an order of mine",
    "can you look up an order for me?",
    "I'd like to know what's happening with my order",
    "how far along is my order?",
    "it's about an order of mine, I'd like to know its status",
    "I'm waiting to hear about an order of mine",
    "please look up an order for me",
    "what's the status of my order?",
    "could you check on an order for me?",
)
ORDER_TAILED = (
    "where is the order{tail}?",
    "I have a question about the order{tail}",
    "can you look up the order{tail} for me?",
    "I'd like to know what's happening with the order{tail}",
    "what's the status of the order{tail}?",
)
# Clauses that follow "the order" or "an air fryer".
ORDER_TAILS: dict[str, tuple[str, ...]] = {
    "order_id": (" with the number {v}", " under order number {v}"),
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
    "I'd like to know {q}",
    "can you tell me {q}?",
    "could you look up {q}?",
    "what I want to know is {q}",
    "do you know {q}?",
    "please tell me {q}",
    "I need to find out {q}",
    "I've been asking myself {q}",
)
CHOICES = (
    "is it {choices}?",
    "would that be {choices}?",
    "it could be {choices}, as far as I know",
    "I've heard of {choices}, but I don't know which it is",
    "the choices seem to be {choices}",
)
PROJECT = (
    "I'm planning {project}",
    "I'm getting things together for {project}",
    "it's for {project}",
    "I'm preparing {project}",
    "I need help with {project}",
    "what I have in mind is {project}",
)
PROJECT_PARTS = (
    "I'm planning {project} and need {list}",
    "for {project} I need {list}",
    "I'm getting things together for {project}: {list}",
    "can you help me with {project}? I need {list}",
    "I have {project} in mind, and for that I need {list}",
    "help me prepare {project}, I still need {list}",
    "what I need for {project} is {list}",
    "could you put together {list} for {project}?",
)
PARTS = (
    "I need {list}",
    "what it takes is {list}",
    "I'm looking for {list}",
    "I'd like {list}",
    "it should have {list}",
    "please find me {list}",
)

REFERENCE: dict[str, tuple[str, ...]] = {
    "order_id": (
        "the order number is {v}",
        "it's order {v}",
        "I mean order {v}",
        "you'll find it under order number {v}",
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
        "the {one} I bought {was} the {one} {v}",
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
        "what I bought is {v}",
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
        "I want my money back on the original payment method",
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
