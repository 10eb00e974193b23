"""What customers want to know of the shop's policies, in their words: clauses that follow "I'd like to know …".

None of them holds a fact of the case, and none could be meant for another page.
"""

from __future__ import annotations

# (subject, kind of question) → wordings.
QUESTIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("return_window", "value"): (
        "how many days after delivery I can return an item",
        "within how many days after delivery I have to send it back",
        "how long the return period is, in days from delivery",
        "how many days your return window gives me",
    ),
    ("restocking_fee", "value"): (
        "what percentage you keep as a restocking fee",
        "how high the restocking fee is, in percent",
        "how many percent the restocking fee would be for me",
        "what restocking fee I'd be charged, in percent of the price",
    ),
    ("restocking_fee", "money_back"): (
        "how much of the price I get back after the restocking fee",
        "what is left of the price I paid after the restocking fee",
        "how many dollars I'd be refunded after you keep the restocking fee",
        "what I'd get back in dollars, less the restocking fee",
    ),
    ("cancellation_fee", "value"): (
        "what percentage you keep as a cancellation fee",
        "how high the cancellation fee is, in percent",
        "how many percent the cancellation fee would be for me",
        "what cancellation fee I'd be charged, in percent of the amount paid",
    ),
    ("cancellation_fee", "money_back"): (
        "how much money I get back if I cancel, once the cancellation fee is taken off",
        "what is left of the amount I paid after the cancellation fee",
        "how many dollars I'd be refunded after you keep the cancellation fee",
        "what I'd get back in dollars, less the cancellation fee",
    ),
    ("return_shipping_fee", "value"): (
        "how much the return shipping fee is",
        "what the shipping label for a return costs me",
        "what I pay for return shipping",
        "how much you charge for the return label",
    ),
    ("delivery_fee", "value"): (
        "how much standard delivery costs",
        "what the standard delivery fee is",
        "what I pay for standard delivery",
        "how much you charge for standard delivery",
    ),
    ("express_fee", "value"): (
        "how much express shipping costs in all",
        "what the express fee is",
        "what I pay to have it sent by express",
        "how much you charge for express",
    ),
    ("assembly_fee", "value"): (
        "how much assembly at my home costs",
        "what the assembly fee is",
        "what I pay for your team to assemble it",
        "how much you charge for the assembly service",
    ),
    ("free_gift_minimum", "value"): (
        "from what order value on I get a free gift",
        "what the minimum order value for the free gift is",
        "how much I have to spend to get a free gift",
        "what the minimum for your free gift is",
    ),
    ("price_match_window", "value"): (
        "for how many days from purchase you match a lower price",
        "how long the price match period is, in days",
        "within how many days of buying I can ask for a price match",
        "how many days your price match lasts",
    ),
    ("price_match_window", "days_left"): (
        "how many more days I can ask for a price match",
        "how many days are left of my price match period",
        "how many days I still have to get a price match",
        "in how many days from today the price match runs out for me",
    ),
    ("exchange_window", "value"): (
        "for how many days from purchase I can exchange an item",
        "how long the exchange period is, in days",
        "within how many days of buying I can exchange it for another one",
        "how many days you allow for an exchange",
    ),
    ("exchange_window", "days_left"): (
        "how many more days I can exchange it",
        "how many days are left of my exchange period",
        "how many days I still have for an exchange",
        "in how many days from today the time for an exchange runs out",
    ),
    ("damage_report_window", "value"): (
        "within how many days after delivery I have to report damage",
        "how many days I have to report damage in transit",
        "how long the period for damage reports is, in days",
        "how many days after delivery a damage report is still accepted",
    ),
    ("warranty", "value"): (
        "how many months of store warranty I get",
        "how long the warranty lasts, in months",
        "for how many months the store warranty covers it",
        "how many months your warranty period is",
    ),
    ("cancellation_window", "value"): (
        "within how many hours after ordering I can cancel",
        "how many hours I have to cancel the order",
        "how long the cancellation period is, in hours",
        "how many hours after ordering a cancellation is possible",
    ),
    ("refund_time", "value"): (
        "how many days the refund takes once you have the return",
        "how long I have to wait for the refund, in days",
        "how many days refund processing takes",
        "within how many days of the return reaching you the refund is made",
    ),
    ("points_rate", "value"): (
        "how many reward points I earn per dollar",
        "what the rate of reward points is, in points per dollar",
        "how many points every dollar earns me",
        "how many reward points I get for each dollar spent",
    ),
    ("birthday_discount", "value"): (
        "how high the birthday discount is, in percent",
        "what percentage I get off in the month of my birthday",
        "how many percent the birthday discount takes off",
        "what birthday discount I get, in percent",
    ),
    ("late_delivery_credit", "value"): (
        "how much credit I get for a late delivery",
        "what the late delivery credit is",
        "how many dollars you credit me when an order comes after the promised date",
        "how much you credit to my account for late delivery",
    ),
    ("gift_card_validity", "value"): (
        "for how many months a gift card I buy from you is valid",
        "after how many months a gift card bought from you expires",
        "how many months the validity of your gift cards is",
        "how long gift cards from your shop can be used, in months",
    ),
    ("refund_method", "choice"): (
        "in which way the refund of a return will be paid out",
        "in which form I get the refund",
        "which way you pay out the refund",
        "how I'll get the money for a return",
    ),
    ("carrier", "choice"): (
        "which carrier brings my order",
        "which company delivers the parcel",
        "who the carrier for my delivery is",
        "what carrier you send the order with",
    ),
}

# How a customer says a fact of its case; "{v}" stands for the value as people write it.
FACT_PHRASES: dict[str, tuple[str, ...]] = {
    "tier": (
        "I'm a {v} member",
        "my membership level is {v}",
        "I have {v} membership",
        "my account is at the {v} level",
    ),
    "region": (
        "I live in the {v} region",
        "my region is {v}",
        "it goes to the {v} region",
        "my delivery region is {v}",
    ),
    "department": (
        "it's something from {v}",
        "the item is from the {v} department",
        "it comes from your {v} department",
        "it's from the department {v}",
    ),
    "reason": ("{v}", "the thing is, {v}", "the reason is that {v}", "it's because {v}"),
    "order_total": (
        "the order came to exactly {v}",
        "the order total is exactly {v}",
        "the whole order is exactly {v}",
        "the order adds up to exactly {v}",
    ),
    "days_since_purchase": (
        "I bought it {v} ago",
        "the purchase was {v} ago",
        "it's been {v} since I bought it",
        "{v} have passed since the purchase",
    ),
    "payment": (
        "I paid by {v}",
        "my payment method was {v}",
        "the order was paid by {v}",
        "for payment I chose {v}",
    ),
    "channel": (
        "I ordered {v}",
        "I placed the order {v}",
        "the order was placed {v}",
        "I made the purchase {v}",
    ),
    "quantity": (
        "the order has {v} in all",
        "the order holds {v}",
        "I ordered {v} altogether",
        "it's {v} in that order",
    ),
    "opened": ("it's {v}", "the package is {v}", "the box is {v}", "the item is {v}"),
    "order_id": (
        "it's about order {v}",
        "the order number is {v}",
        "I mean order {v}",
        "it concerns my order {v}",
    ),
    "amount": (
        "I paid {v} for it",
        "the price I paid was {v}",
        "it cost me {v}",
        "I spent {v} on it",
    ),
}

REASON_WORDS: dict[str, tuple[str, ...]] = {
    "damaged": ("it arrived damaged", "it was damaged when it came", "it got here damaged", "it came damaged"),
    "wrong_item": (
        "you sent the wrong item",
        "I got the wrong item",
        "it's the wrong item, not what I ordered",
        "the wrong item was in the parcel",
    ),
    "not_as_described": (
        "it's not as described",
        "it doesn't match the description",
        "it isn't what the description says",
        "it differs from its description",
    ),
    "changed_mind": (
        "I changed my mind",
        "I've changed my mind about it",
        "I simply changed my mind",
        "I no longer want it, I changed my mind",
    ),
    "does_not_fit": ("it doesn't fit", "it does not fit", "it simply doesn't fit", "the fit is wrong: it doesn't fit"),
    "arrived_late": ("it arrived too late", "it arrived late", "it came too late", "it got here too late"),
}

# Words with which an agent may ask for a fact.
FACT_LABELS: dict[str, tuple[str, ...]] = {
    "tier": ("membership", "membership level", "member", "tier", "status", "loyalty level"),
    "region": ("region", "where you live", "delivery region", "address", "location"),
    "department": ("department", "category", "kind of item", "what item", "which item", "product", "section"),
    "reason": ("reason", "why", "what is wrong", "what happened", "problem with it"),
    "order_total": ("order total", "order value", "total", "how much the order", "order amount", "worth"),
    "days_since_purchase": ("when you bought", "days ago", "how long ago", "purchase date", "when", "days since"),
    "payment": ("payment method", "payment", "pay", "paid", "how you paid"),
    "channel": ("website or app", "where you ordered", "how you ordered", "channel", "app", "website", "phone"),
    "quantity": ("quantity", "how many", "units", "number of items", "how many units"),
    "opened": ("opened", "unopened", "open", "packaging", "box", "sealed"),
    "order_id": ("order number", "order id", "which order", "order"),
    "amount": ("price", "amount", "how much you paid", "what you paid", "cost", "paid"),
}
