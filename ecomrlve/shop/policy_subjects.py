"""The shop's subjects: what their values are called and mean, their units and ranges.

They keep out of each other's way: no page says "free delivery from …" where another tells the delivery fee, so that
one question never has two answers.
"""

from __future__ import annotations

from ecomrlve.shop.policy_topics import OF_ANYTHING, OF_ORDERS, OF_RETURNS, RETURN_WINDOW, Topic

_ALL = (
    Topic(
        RETURN_WINDOW,
        ("Returning an item", "How long you can return an item", "Return period", "Returns: the time you have"),
        ("the return period", "the return window", "the time for a return"),
        (
            "It is the number of days after delivery in which an item can be sent back.",
            "It says within how many days after delivery you can send an item back.",
        ),
        "days", 7, 120, "highest", OF_RETURNS,
    ),
    Topic(
        "restocking_fee",
        ("Restocking fee", "What we keep for restocking", "Returns: restocking fee", "Restocking charges"),
        ("the restocking fee", "the fee for restocking"),
        (
            "It is the share of the item's price that we keep back when an item is returned.",
            "When an item is returned we keep this share of its price and pay back the rest.",
        ),
        "%", 2, 60, "lowest", OF_ANYTHING, family="money_back",
    ),
    Topic(
        "cancellation_fee",
        ("Cancellation fee", "What canceling an order costs", "Fee for canceled orders", "Cancellations: the fee"),
        ("the cancellation fee", "the fee for a cancellation"),
        (
            "It is the share of the amount paid that we keep back when an order is canceled before it is shipped.",
            "When you cancel an order before it is shipped we keep this share of the amount paid and refund the rest.",
        ),
        "%", 2, 60, "lowest", OF_ORDERS, ("days_since_purchase", "opened"), family="money_back",
    ),
    Topic(
        "return_shipping_fee",
        ("Return shipping fee", "What sending an item back costs", "Return label charges", "Shipping a return"),
        ("the return shipping fee", "the fee for the return label"),
        (
            "It is what we charge for the shipping label when an item is sent back to us.",
            "We charge it for the label with which you ship an item back to us.",
        ),
        "$", 2, 30, "lowest", OF_ANYTHING,
    ),
    Topic(
        "delivery_fee",
        ("Standard delivery fee", "What standard delivery costs", "Standard delivery charges", "Fee for delivery"),
        ("the delivery fee", "the fee for standard delivery"),
        (
            "It is what we charge for bringing an order to you by standard delivery.",
            "We charge it once per order for standard delivery to your door.",
        ),
        "$", 2, 30, "lowest", OF_ORDERS, ("days_since_purchase", "reason"),
    ),
    Topic(
        "express_fee",
        ("Express fee", "What express shipping costs", "Express charges", "The price of express"),
        ("the express fee", "the fee for express"),
        (
            "It is what we charge in all for sending an order by express, our fastest service.",
            "We charge it once per order that goes by express, our fastest service.",
        ),
        "$", 4, 60, "lowest", OF_ORDERS, ("days_since_purchase", "reason"),
    ),
    Topic(
        "assembly_fee",
        ("Assembly service", "What assembly at home costs", "Assembly charges", "Setting up at your home"),
        ("the assembly fee", "the fee for assembly"),
        (
            "It is what we charge when our team puts an item together at your home.",
            "We charge it when our people set up and assemble an item at your home.",
        ),
        "$", 10, 160, "lowest", OF_ORDERS, ("days_since_purchase", "reason"),
    ),
    Topic(
        "free_gift_minimum",
        ("Free gift with an order", "When a free gift is added", "Our free gift", "Free gift: the minimum order value"),
        ("the free gift minimum", "the minimum order value"),
        (
            "It is the order value from which we put a free gift into the parcel.",
            "From this order value on we add a free gift to the parcel.",
        ),
        "$", 15, 300, "lowest",
        ("tier", "region", "department", "payment", "channel", "quantity"), ("days_since_purchase", "opened"),
    ),
    Topic(
        "price_match_window",
        ("Price match", "How long we match prices", "Price match: the time you have", "Found it cheaper? Price match"),
        ("the price match period", "the time for a price match"),
        (
            "It is the number of days from the day of purchase in which you can ask us to match a lower price.",
            "It says for how many days from the day of purchase we match a lower price found elsewhere.",
        ),
        "days", 3, 90, "highest", OF_ORDERS, ("opened",), family="days_left",
    ),
    Topic(
        "exchange_window",
        ("Exchanges", "How long you can exchange an item", "Exchange period", "Swapping an item: the time you have"),
        ("the exchange period", "the time for an exchange"),
        (
            "It is the number of days from the day of purchase in which an item can be exchanged for another one.",
            "It says for how many days from the day of purchase you can swap an item for another one.",
        ),
        "days", 5, 120, "highest", OF_RETURNS, ("opened",), family="days_left",
    ),
    Topic(
        "damage_report_window",
        ("Reporting damage", "How long you can report damage", "Damaged in transit", "Damage reports and deadlines"),
        ("the reporting period", "the time for a damage report"),
        (
            "It is the number of days after delivery in which damage in transit must be reported to us.",
            "It says within how many days after delivery you must report damage in transit.",
        ),
        "days", 2, 45, "highest", OF_ORDERS, ("opened",),
    ),
    Topic(
        "warranty",
        ("Store warranty", "How long the warranty lasts", "Warranty period", "Our warranty"),
        ("the warranty period", "the store warranty"),
        (
            "It is the number of months for which we repair an item that stops working, free of charge.",
            "It says for how many months we repair free of charge what stops working.",
        ),
        "months", 3, 72, "highest", OF_ORDERS, ("days_since_purchase", "opened"),
    ),
    Topic(
        "cancellation_window",
        ("Canceling an order", "How long you can cancel", "Cancellation period", "Cancellations: the time you have"),
        ("the cancellation period", "the time for a cancellation"),
        (
            "It is the number of hours after ordering in which an order can be canceled.",
            "It says within how many hours after ordering you can cancel an order.",
        ),
        "hours", 2, 96, "highest", OF_ORDERS, ("opened",),
    ),
    Topic(
        "refund_time",
        ("When refunds arrive", "How long a refund takes", "Refund processing time", "Waiting for a refund"),
        ("the refund time", "the processing time"),
        (
            "It is the number of days that a refund takes after a return has reached us.",
            "It says how many days pass between the arrival of a return and the refund.",
        ),
        "days", 2, 45, "lowest", OF_ANYTHING,
    ),
    Topic(
        "points_rate",
        ("Reward points", "How many points you earn", "Earning reward points", "Points for your orders"),
        ("the points rate", "the rate of reward points"),
        (
            "It is the number of reward points that you earn for every dollar spent.",
            "It says how many reward points every dollar spent earns you.",
        ),
        "points", 2, 60, "highest", OF_ORDERS, ("days_since_purchase", "opened"),
    ),
    Topic(
        "birthday_discount",
        ("Birthday discount", "A discount for your birthday", "Birthday offer", "Your birthday month"),
        ("the birthday discount", "the discount for birthdays"),
        (
            "It is the share of the price that we take off an order in the month of your birthday.",
            "We take it off the price of an order made in the month of your birthday.",
        ),
        "%", 2, 50, "highest", OF_ORDERS, ("days_since_purchase", "opened"),
    ),
    Topic(
        "late_delivery_credit",
        ("Credit for late delivery", "When we deliver late", "Late delivery credit", "Late? We make up for it"),
        ("the late delivery credit", "the credit for lateness"),
        (
            "It is what we credit to your account when an order reaches you after the promised date.",
            "We credit it to your account for an order that reaches you after the promised date.",
        ),
        "$", 2, 50, "highest", OF_ORDERS, ("days_since_purchase", "opened"),
    ),
    Topic(
        "gift_card_validity",
        ("Gift cards: validity", "How long gift cards are valid", "When gift cards expire", "Validity of gift cards"),
        ("the gift card validity", "the validity period"),
        (
            "It is the number of months in which a gift card bought from us can be used before it expires.",
            "It says for how many months a gift card bought from us stays valid.",
        ),
        "months", 3, 72, "highest",
        ("tier", "region", "order_total", "payment", "channel", "quantity"), ("days_since_purchase", "department"),
    ),
    Topic(
        "refund_method",
        ("How refunds are paid out", "Ways of paying a refund", "The form of a refund", "Refunds: how you get them"),
        ("the form of the refund",),
        (
            "It says in which way the money for a returned item is paid out.",
            "It is the way in which we pay out the money for a returned item.",
        ),
        "", natural=OF_ANYTHING,
        choices=("original payment method", "store credit", "gift card", "bank transfer", "check"),
    ),
    Topic(
        "carrier",
        ("Our carriers", "Who delivers your order", "Carriers and deliveries", "Which carrier comes"),
        ("the carrier",),
        (
            "It says which company brings the parcels of an order.",
            "It is the company that delivers the parcels of an order.",
        ),
        "", natural=OF_ORDERS, spare=("days_since_purchase", "reason"),
        choices=("Swiftline", "Parcelbird", "Northway Post", "Bluecrate", "Tern Express", "Harborline"),
    ),
)  # fmt: skip

TOPICS: dict[str, Topic] = {topic.name: topic for topic in _ALL}
CATEGORICAL = tuple(topic.name for topic in _ALL if topic.choices)
NUMERIC = tuple(topic.name for topic in _ALL if not topic.choices)
