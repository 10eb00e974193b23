"""The stock of phrasings for one slot, in the three shapes of `phrases`: behind a noun, as a clause, as a note.

Fields: {v} the value with its unit, {label} the attribute, {it} and {obj} what is wanted as subject and object.
``[this|that|]`` leaves a choice.
"""

from __future__ import annotations

# (behind a noun, clauses, notes)
Forms = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

# Attribute → operator → forms.
SPECIAL: dict[str, dict[str, Forms]] = {
    "price": {
        "le": (
            (
                "under {v}", "for [at most|no more than|not more than|up to] {v}", "for {v} or less", "for {v} tops",
                "within a budget of {v}", "[that costs|costing] [no more than|at most] {v}",
            ),
            (
                "{it} [shouldn't|must not|mustn't|can't] cost more than {v}",
                "my [budget|limit|maximum] is {v}",
                "I can [spend|pay] [at most|up to] {v}",
                "I'd like to [stay|keep it|remain] under {v}",
                "the price should be {v} or less",
                "{v} is the most I can [pay|spend|afford]",
                "I [don't|wouldn't] want to [spend|pay] more than {v}",
                "I'd [go up to|spend] {v}, [not more|no more than that|and not a cent more]",
                "I'm not [paying|spending] more than {v}",
                "{v} [tops|at most], [that's|that is] what I can [spend|pay]",
            ),
            ("under {v}", "max {v}", "{v} or less", "budget {v}", "at most {v}", "{v} tops", "up to {v}", "{v} max"),
        ),
        "ge": (
            ("for at least {v}", "priced at {v} or more", "for no less than {v}"),
            ("{it} should cost at least {v}", "the price should be {v} or more", "I want to spend at least {v}"),
            ("{v} or more", "at least {v}", "min {v}"),
        ),
        "eq": (
            ("for {v}", "priced at {v}", "at a price of {v}"),
            ("the price should be {v}", "{it} should cost {v}", "I want to pay exactly {v}"),
            ("price: {v}", "{v} exactly", "priced at {v}"),
        ),
    },
    "rating": {
        "le": (
            ("rated at most {v}", "with a rating of {v} or less", "with no more than {v}"),
            ("the rating should be at most {v}", "{it} should have {v} or less", "I want at most {v}"),
            ("at most {v}", "max {v}", "{v} or less"),
        ),
        "ge": (
            (
                "rated at least {v}", "with a rating of [at least|no less than] {v}", "rated {v} or [better|more|higher]",
                "with {v} or more", "with at least {v}",
            ),
            (
                "the rating should be [at least {v}|{v} or better|{v} or more]",
                "I want at least {v} in the reviews",
                "{it} [should|must] have [{v} or more|at least {v}]",
                "nothing below {v}[, please|]",
                "the reviews should [come to|average] {v} or better",
                "[other buyers|people|reviewers] should have given {obj} at least {v}",
                "I won't [take|accept] less than {v}",
            ),
            ("at least {v}", "{v} or better", "{v} and up", "min {v}", "{v} or more", "rated {v} or better"),
        ),
        "eq": (
            ("rated {v}", "with a rating of {v}", "with {v}"),
            ("the rating should be {v}", "{it} should be rated {v}", "{it} should have {v}"),
            ("rating: {v}", "rated {v}", "{v}"),
        ),
    },
    "ship_days": {
        "le": (
            (
                "delivered within {v}", "arriving within {v}", "with delivery in {v} or less", "here in at most {v}",
                "that [arrives|gets here|is delivered] within {v}", "[delivered|arriving] within {v}",
            ),
            (
                "{it} [must|should|has to|needs to] [arrive|be here|get here] within {v}",
                "I need {obj} within {v}",
                "delivery [shouldn't|mustn't|can't] take [longer|more] than {v}",
                "{it} should be here in {v} or less",
                "I can wait {v} at most",
                "I need {obj} in my hands within {v}",
                "I'd like {obj} delivered within {v}",
            ),
            ("delivery within {v}", "{v} or less for delivery", "delivery in at most {v}", "here within {v}"),
        ),
        "ge": (
            ("delivered in {v} or more", "arriving in {v} at the earliest", "with delivery in no less than {v}"),
            ("{it} should arrive in {v} at the earliest", "delivery should take at least {v}"),
            ("delivery in {v} at the earliest", "delivery in at least {v}", "delivery: {v} or more"),
        ),
        "eq": (
            ("delivered in {v}", "arriving in {v}", "with delivery in {v}"),
            ("{it} should arrive in {v}", "delivery should take {v}", "I want {obj} in {v}"),
            ("delivery in {v}", "delivery: {v}", "here in {v}"),
        ),
    },
    "brand": {
        "eq": (
            ("from {v}", "by {v}", "made by {v}", "from the brand {v}"),
            (
                "{it} [must|should|has to] be [from|by|made by] {v}",
                "the brand [should|must|has to] be {v}",
                "I only [want|buy|trust] {v}",
                "I want {obj} from {v}",
                "[as for the brand,|as to the brand,|the make:] {v} [only|please]",
                "I [always buy|stick to|like|swear by] {v}, so [please nothing else|nothing else will do]",
            ),
            ("brand: {v}", "from {v}", "by {v} only", "{v} brand", "made by {v}"),
        ),
    },
}  # fmt: skip
LOOKS: dict[str, Forms] = {
    "color": (
        ("in {v}",),
        (
            "I want {obj} in {v}",
            "the {label} [should|must|has to] be {v}",
            "{it} should come in {v}",
            "I'd like {obj} in {v}",
            "in {v}, [please|if you can|that's the {label} I want]",
            "I'm [thinking of|after|set on] {v} for the {label}",
        ),
        ("in {v}", "{label}: {v}", "{v} for the {label}"),
    ),
    "size": (
        ("in size {v}",),
        (
            "the size should be {v}",
            "I need size {v}",
            "{it} should come in size {v}",
            "I take size {v}",
            "I [usually wear|wear|normally take] size {v}",
        ),
        ("size {v}", "in size {v}", "size: {v}"),
    ),
    "material": (
        ("made of {v}", "in {v}"),
        (
            "{it} [should|must] be made of {v}",
            "the {label} [should|must|has to] be {v}",
            "I'd like {v} as the {label}",
            "I want {obj} made of {v}",
        ),
        ("made of {v}", "{label}: {v}", "{v} as the {label}"),
    ),
    "": (
        ("with {v} as the {label}", "with {label} {v}"),
        (
            "the {label} [should|must|has to|needs to] be {v}",
            "for the {label} I [need|want|would like] {v}",
            "I [want|need|would like] {v} as the {label}",
            "when it comes to the {label}, I [need|want] {v}",
            "[regarding|concerning|as to|speaking of] the {label}: {v}",
        ),
        ("{label}: {v}", "{v} as the {label}", "{label} {v}"),
    ),
}
AMOUNTS = {
    "le": ("at most {v}", "no more than {v}", "{v} or less", "up to {v}", "{v} at most", "a maximum of {v}"),
    "ge": ("at least {v}", "no less than {v}", "{v} or more", "a minimum of {v}", "{v} at least"),
    "eq": ("{v}",),
}
# A number whose label needs "of": "a length of at least 3 m"; {n} is the amount.
MEASURED: Forms = (
    ("with {a_label} of {n}",),
    (
        "the {label} [should|must|has to] be {n}",
        "I need {a_label} of {n}",
        "{it} [should|must] have {a_label} of {n}",
        "I'd like {a_label} of {n}",
        "[as for|regarding|concerning] the {label}, I need {n}",
    ),
    ("{label}: {n}", "{label} of {n}"),
)
# A number whose label, or unit, is what is counted: "at least 4 pockets".
COUNTED: Forms = (
    ("with {n}",),
    ("{it} [should|must|has to] have {n}", "I need {n}", "I'd like {obj} with {n}"),
    ("{n}", "with {n}"),
)
# Yes/no attributes: (is, is not) for labels that describe, (has, has not) for those that name a part.
IS: Forms = (
    ("that [is|has to be] {label}", "which must be {label}"),
    ("{it} [must|should|has to|needs to] be {label}", "{label} is a must", "I want {obj} to be {label}"),
    ("{label}: yes", "{label}", "must be {label}"),
)
IS_NOT: Forms = (
    ("that should not be {label}", "which must not be {label}"),
    ("{it} must not be {label}", "{it} shouldn't be {label}"),
    ("{label}: no", "not {label}"),
)
HAS: Forms = (
    ("with {label}", "that should come with {label}", "that [has|comes with] {label}"),
    (
        "{it} [must|should|has to] have {label}",
        "{it} should come with {label}",
        "I need {obj} with {label}",
    ),
    ("with {label}", "{label}: yes"),
)
HAS_NOT: Forms = (
    ("without {label}", "that should come without {label}"),
    ("{it} should come without {label}", "I want {obj} without {label}", "no {label}[,|] please"),
    ("without {label}", "{label}: no", "no {label}"),
)
PRIORITY_NOUNS: dict[str, tuple[str, ...]] = {
    "price": ("the price", "a low price", "how cheap {it} can be"),
    "rating": ("the rating", "having good reviews", "a high rating", "what the reviews say"),
    "ship_days": ("quick delivery", "fast shipping", "an early delivery", "a fast delivery"),
    "brand": ("getting {v} as the brand", "the brand {v}", "having {v} as the brand"),
}
FIRST = (
    "the most important thing for me is {n}[, that's my priority|]",
    "what [counts|matters] most [for|to] me is {n}",
    "most of all I care about {n}",
    "my [first|top|main] priority is {n}",
    "{n} matters most to me",
    "{n} comes first for me",
    "above all [I look at|I care about|it's about] {n}",
    "if I have to choose, {n} matters more than the rest",
)
SECOND = (
    "after that, {n}",
    "in second place, {n} matters to me",
    "my second priority is {n}",
    "next I care about {n}",
    "then comes {n}",
    "the second most important thing is {n}",
    "{n} comes second",
    "the next most important thing is {n}",
)
SECOND_ALONE = (
    "my second priority is {n}",
    "the second most important thing is {n}",
    "in second place, {n} matters to me",
    "{n} is my second priority",
)
