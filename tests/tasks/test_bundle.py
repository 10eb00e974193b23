"""E_BUNDLE: projects, budgets that exclude the careless choice, ties, and the verdict on a basket."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ecomrlve.catalog.columns import Catalog
from ecomrlve.catalog.filters import Constraint, satisfied
from ecomrlve.collections import TASKS
from ecomrlve.customer.ledger import HEADS
from ecomrlve.difficulty import difficulty
from ecomrlve.errors import GenerationError
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.bundle import BundleTask, parts_wanted, share_within_budget
from ecomrlve.tasks.bundle_baskets import Costs, Part, projects_of, written_projects

TASK = BundleTask()


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_BUNDLE", seed))


def told(problem: Problem) -> Any:
    ledger = problem.ledger()
    ledger.say(list(ledger.slots), 0, "open")
    return ledger


def judge(problem: Problem, ledger: Any, ids: list[str]) -> Any:
    return TASK.verify(problem, ledger, {"recommended_product_ids": ids}, problem.world.axes)


def rules(ledger: Any, index: int) -> list[Constraint]:
    slots = [slot for slot in ledger.slots.values() if slot.kind == "constraint" and slot.item == index]
    values = [tuple(slot.value) if isinstance(slot.value, list) else slot.value for slot in slots]
    return [Constraint(slot.attribute, slot.operator, value) for slot, value in zip(slots, values, strict=True)]


def fitting_rows(problem: Problem, ledger: Any) -> list[np.ndarray]:
    """For each part the rows that fill it, computed afresh from the slots and the shop."""
    catalog, stock = problem.world.catalog, problem.world.stock
    found = []
    for index, kind in enumerate(slot.value for slot in ledger.slots.values() if slot.kind == "part"):
        rows = catalog.rows_of_type(kind)
        mask = (catalog.stock[rows] > 0) & np.array([not stock.fated(int(row)) for row in rows])
        for rule in rules(ledger, index):
            mask &= satisfied(catalog, rows, rule)
        found.append(rows[mask])
    return found


def cents(catalog: Catalog, rows: Any) -> np.ndarray:
    return np.array([round(100 * catalog.columns["price"].get(int(row))) for row in rows])


def tied_parts(problem: Problem, ledger: Any) -> tuple[int, int, str] | None:
    tie = ledger.slots.get("tie")
    if tie is None:
        return None
    kinds = [slot.value for slot in ledger.slots.values() if slot.kind == "part"]
    return kinds.index(tie.value[0]), kinds.index(tie.value[1]), tie.attribute


def groups(problem: Problem, ledger: Any) -> list[np.ndarray]:
    """Costs of the choices that are independent of each other: those of a part, or of two parts that are tied."""
    catalog, rows, tie = problem.world.catalog, fitting_rows(problem, ledger), tied_parts(problem, ledger)
    found = [cents(catalog, part) for i, part in enumerate(rows) if tie is None or i not in tie[:2]]
    if tie is not None:
        value = catalog.columns[tie[2]].get
        pairs = [
            sum(cents(catalog, pair))
            for pair in itertools.product(rows[tie[0]].tolist(), rows[tie[1]].tolist())
            if value(pair[0]) is not None and value(pair[0]) == value(pair[1])
        ]
        found.append(np.array(pairs))
    return found


def check_budget(problem: Problem, ledger: Any, seed: int) -> None:
    """The budget buys a fitting basket, and few random ones: counted where they are few, else sampled."""
    budget, share = 100 * ledger.slots["budget"].value, share_within_budget(problem.world.axes.d)
    costs = groups(problem, ledger)
    assert sum(int(group.min()) for group in costs) <= budget
    if np.prod([len(group) for group in costs], dtype=float) <= 50_000:
        total = costs[0]
        for group in costs[1:]:
            total = (total[:, None] + group[None, :]).ravel()
        assert np.mean(total <= budget) <= share + 1e-9
        return
    size = 4000
    rng = np.random.Generator(np.random.PCG64(seed))
    total = sum(rng.choice(group, size) for group in costs)
    assert np.mean(total <= budget) <= share + 4 * np.sqrt(share * (1 - share) / size)


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[Problem]:
    return [draw(words_engine, seed, seed % 13) for seed in range(312)]


def test_the_written_projects_fit_the_default_catalog(catalog: Any) -> None:
    written = written_projects()
    assert len(written) >= 14
    assert [project.name for project in projects_of(catalog)] == list(written)
    for name, entry in written.items():
        assert len(entry["types"]) == len(set(entry["types"])) >= 12, name
        for kind in entry["types"]:
            assert (catalog.stock[catalog.rows_of_type(kind)] > 0).sum() >= 5, (name, kind)
        assert len(entry["ties"]) >= 2, name
        for first, second, attribute in entry["ties"]:
            assert {first, second} < set(entry["types"]), (name, first, second)
            column = catalog.columns[attribute]
            assert not column.numeric
            often = [
                {word for word, count in Counter(map(column.get, catalog.rows_of_type(kind))).items() if count >= 3}
                for kind in (first, second)
            ]
            assert len((often[0] & often[1]) - {None, "yes", "no"}) >= 2, (name, first, second, attribute)


def test_parts_requirements_and_slots_are_as_the_difficulty_says(problems: list[Problem]) -> None:
    for problem in problems:
        axes, catalog = problem.world.axes, problem.world.catalog
        kinds = Counter(slot.kind for slot in problem.slots)
        assert kinds["part"] == len(problem.goal.parts) == parts_wanted(axes.d)
        assert len({slot.value for slot in problem.slots if slot.kind == "part"}) == kinds["part"]
        assert kinds["constraint"] == problem.supported == axes.constraints
        assert kinds["tie"] == (axes.d >= 6)
        assert kinds["project"] == kinds["budget"] == 1
        order = ["project", "part", "budget", "tie", "constraint"]
        assert [slot.kind for slot in problem.slots] == [kind for kind in order for _ in range(kinds[kind])]
        assert all(slot.key not in problem.omitted for slot in problem.slots if slot.kind in HEADS)
        each = Counter(slot.item for slot in problem.slots if slot.kind == "constraint")
        assert max(each.values()) <= 2
        for slot in (slot for slot in problem.slots if slot.kind == "constraint"):
            part = problem.goal.parts[slot.item]
            assert (slot.key, slot.item_name) == (f"part{slot.item}:{slot.attribute}", part.type)
            value = tuple(slot.value) if isinstance(slot.value, list) else slot.value
            assert not satisfied(catalog, part.rows, Constraint(slot.attribute, slot.operator, value)).all()


def test_the_budget_buys_a_fitting_basket_and_excludes_the_careless_choice(problems: list[Problem]) -> None:
    for seed, problem in enumerate(problems):
        assert isinstance(problem.ledger().slots["budget"].value, int)
        check_budget(problem, told(problem), seed)


def test_every_part_can_be_filled_in_two_ways(problems: list[Problem]) -> None:
    for problem in problems:
        rows, tie = fitting_rows(problem, told(problem)), tied_parts(problem, told(problem))
        assert min(map(len, rows)) >= 2
        if tie is not None:
            get = problem.world.catalog.columns[tie[2]].get
            values = [[get(int(row)) for row in rows[index]] for index in tie[:2]]
            shared = set(values[0]) & set(values[1]) - {None}
            assert min(sum(value in shared for value in listed) for listed in values) >= 2
            assert len(set(values[0]) | set(values[1])) > 1, "the tie excludes nothing"


def test_from_three_on_the_cheapest_product_is_a_lure_in_most_parts(problems: list[Problem]) -> None:
    for problem in problems:
        if problem.world.axes.d < 3:
            continue
        catalog, stock = problem.world.catalog, problem.world.stock
        lures = 0
        for index, part in enumerate(problem.goal.parts):
            lasting = [int(row) for row in part.rows if stock.lasting(int(row)) > 0]
            least = min(cents(catalog, lasting))
            cheapest = np.array(
                [row for row, cost in zip(lasting, cents(catalog, lasting), strict=True) if cost == least]
            )
            met = [satisfied(catalog, cheapest, rule) for rule in rules(told(problem), index)]
            lures += not np.logical_and.reduce([np.ones(len(cheapest), bool), *met]).any()
        assert lures >= 0.6 * len(problem.goal.parts)


def test_costs_are_exact_where_they_can_be_counted(catalog: Any) -> None:
    """Three parts of a few products each: every basket written down."""
    stream = Stream("costs")
    for _ in range(40):
        parts = []
        for _ in range(3):
            count = 2 + stream.integer(6)
            prices = np.array([1000 + stream.integer(4000) for _ in range(count)])
            parts.append(Part("", np.arange(count), np.ones(count, bool), prices))
        costs = Costs(catalog, parts, [part.alive for part in parts], None)
        totals = np.array([sum(basket) for basket in itertools.product(*(part.cents.tolist() for part in parts))])
        assert costs.least == totals.min()
        for dollars in range(20, 160, 7):
            exact = np.mean(totals <= 100 * dollars)
            assert exact - 1e-9 <= costs.share_within(dollars) <= np.mean(totals <= 100 * dollars + 6) + 1e-9
        for share in (0.05, 0.25, 0.5):
            most = costs.most_dollars(share)
            assert costs.share_within(most) <= share + 1e-9 < costs.share_within(most + 1) + 1e-6


def test_a_change_of_mind_leaves_a_problem_as_good_as_before(words_engine: Any) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(120):
        problem = draw(words_engine, seed, 3 + seed % 10, switching=1.0, omission=0.3)
        if not problem.switch:
            continue
        ledger = told(problem)
        (key,) = problem.switch
        before = ledger.slots[key].value
        ledger.switch(2)
        assert ledger.slots[key].value != before
        kinds[ledger.slots[key].kind] += 1
        assert min(map(len, fitting_rows(problem, ledger))) >= 2
        check_budget(problem, ledger, seed)
        verdict = judge(problem, ledger, [entry["product_id"] for entry in TASK.reveal(problem, ledger)["cheapest"]])
        assert (verdict.task, verdict.correct) == (1.0, True)
    assert set(kinds) == {"budget", "constraint"}
    assert kinds.total() > 80


def test_a_cheapest_basket_is_perfect_in_any_order_letter_case_and_spacing(problems: list[Problem]) -> None:
    for number, problem in enumerate(problems):
        ledger = told(problem)
        ids = [entry["product_id"] for entry in TASK.reveal(problem, ledger)["cheapest"]]
        shuffled = Stream("order", number).shuffled(ids)
        for given in (ids, shuffled, [f"  {identifier.upper()} " for identifier in ids]):
            verdict = judge(problem, ledger, given)
            assert (verdict.task, verdict.correct) == (1.0, True)
            assert all(entry["fills"] and not entry["wrong"] for entry in verdict.done)


def test_what_does_not_fill_a_part_is_a_wrong_entry(problems: list[Problem]) -> None:
    for problem in problems[::5]:
        ledger, world, goal = told(problem), problem.world, problem.goal
        best = [entry["product_id"] for entry in TASK.reveal(problem, ledger)["cheapest"]]
        rows = fitting_rows(problem, ledger)
        n = len(best)
        free = next(i for i in range(n) if goal.tie is None or i not in goal.tie[:2])
        unfit = next(int(row) for row in goal.parts[free].rows if row not in rows[free])
        types = {part.type for part in goal.parts}
        foreign = next(row for row in range(len(world.catalog)) if world.catalog.type_of(row) not in types)
        second = next(int(row) for row in rows[free] if world.product_id(int(row)) != best[free])
        rest = best[:free] + best[free + 1 :]
        assert judge(problem, ledger, rest).parts["f1"] == pytest.approx(2 * (n - 1) / (2 * n - 1))
        for wrong in (world.product_id(unfit), world.product_id(foreign), "p0000000", "", "x" * 500, rest[0]):
            for given in ([*rest, wrong], [wrong, *rest]):
                verdict = judge(problem, ledger, given)
                assert verdict.parts["f1"] == pytest.approx(2 * (n - 1) / (2 * n)), wrong
                assert not verdict.correct
        for wrong in (world.product_id(second), best[0], "p0000000"):
            verdict = judge(problem, ledger, [*best, wrong])
            assert verdict.parts["f1"] == pytest.approx(2 * n / (2 * n + 1))
            assert not verdict.correct
        assert judge(problem, ledger, []).task == -1.0


def test_beyond_the_budget_the_reward_falls_with_the_excess(words_engine: Any) -> None:
    checked = 0
    for seed in range(60):
        problem = draw(words_engine, seed, 4)
        ledger, catalog = told(problem), problem.world.catalog
        dear = [int(rows[np.argmax(cents(catalog, rows))]) for rows in fitting_rows(problem, ledger)]
        cost, budget = int(cents(catalog, dear).sum()), 100 * ledger.slots["budget"].value
        verdict = judge(problem, ledger, [problem.world.product_id(row) for row in dear])
        assert cost > budget
        assert verdict.parts["f1"] == 1
        assert not verdict.correct
        assert verdict.parts["cost"] == cost / 100
        assert verdict.task == pytest.approx(max(-1, -0.3 - 0.7 * (cost - budget) / budget))
        assert -1 <= verdict.task < -0.3
        checked += verdict.task > -1
        # An unsaid budget is none: what was never said is not scored.
        loose = problem.ledger()
        loose.say([key for key in loose.slots if key != "budget"], 0, "open")
        assert judge(problem, loose, [problem.world.product_id(row) for row in dear]).task == 1.0
    assert checked > 5


def test_the_budget_counts_to_the_cent(problems: list[Problem]) -> None:
    """A repeated id costs once; a cent more than the budget is too much."""
    problem = problems[0]
    ledger = told(problem)
    best = TASK.reveal(problem, ledger)
    ids = [entry["product_id"] for entry in best["cheapest"]]
    cost = round(100 * best["cost"])
    assert judge(problem, ledger, [*ids, *ids]).parts["cost"] == best["cost"]
    for budget, within in ((cost / 100, True), ((cost - 1) / 100, False)):
        ledger.sayings["budget"][-1].value = budget
        assert judge(problem, ledger, ids).parts["within_budget"] is within


def test_a_broken_tie_fills_one_of_the_two_parts(problems: list[Problem]) -> None:
    checked = 0
    for problem in problems:
        ledger, world, tie = told(problem), problem.world, problem.goal.tie
        if tie is None:
            continue
        get = world.catalog.columns[tie[2]].get
        rows = fitting_rows(problem, ledger)
        best = [entry["product_id"] for entry in TASK.reveal(problem, ledger)["cheapest"]]
        value = get(world.product_ids.decode(best[tie[0]]))
        odd = [int(row) for row in rows[tie[1]] if get(int(row)) != value]
        if not odd:
            continue
        given = list(best)
        given[tie[1]] = world.product_id(odd[0])
        verdict = judge(problem, ledger, given)
        n = len(best)
        assert verdict.parts["filled"] == n - 1
        assert not verdict.parts["tie_kept"]
        assert not verdict.correct
        assert sum(entry["fills"] is not None for entry in verdict.done) == n - 1
        # With both of them the tie can be kept, and one is too many.
        assert judge(problem, ledger, [*given, best[tie[1]]]).parts["filled"] == n
        loose = problem.ledger()
        loose.say([key for key in loose.slots if key != "tie"], 0, "open")
        assert judge(problem, loose, given).parts["filled"] == n
        rows_shown = [world.product_ids.decode(identifier) for identifier in given]
        assert TASK.see(problem, ledger, rows_shown).complaints[0].facts["what"] == "tie_broken"
        checked += 1
    assert checked > 60


def test_a_requirement_that_was_never_said_is_not_scored(words_engine: Any) -> None:
    checked = 0
    for seed in range(40):
        problem = draw(words_engine, seed, 4, switching=0.0)
        best = [entry["product_id"] for entry in TASK.reveal(problem, problem.ledger())["cheapest"]]
        for slot in [slot for slot in problem.slots if slot.kind == "constraint"]:
            ledger = problem.ledger()
            ledger.say([key for key in ledger.slots if key != slot.key], 0, "open")
            stock, part = problem.world.stock, problem.goal.parts[slot.item]
            value = tuple(slot.value) if isinstance(slot.value, list) else slot.value
            misses = ~satisfied(problem.world.catalog, part.rows, Constraint(slot.attribute, slot.operator, value))
            odd = [int(row) for row in part.rows[misses] if stock.lasting(int(row)) > 0]
            if not odd:
                continue
            given = [*best[: slot.item], problem.world.product_id(odd[0]), *best[slot.item + 1 :]]
            assert judge(problem, ledger, given).parts["f1"] == 1
            ledger.say([slot.key], 1, "clarify")
            assert judge(problem, ledger, given).parts["f1"] < 1
            checked += 1
    assert checked > 60


def test_the_customer_sees_what_is_wrong_with_the_products_shown(problems: list[Problem]) -> None:
    for problem in problems[::4]:
        ledger, world, goal = told(problem), problem.world, problem.goal
        best = [world.product_ids.decode(entry["product_id"]) for entry in TASK.reveal(problem, ledger)["cheapest"]]
        pending = bool(ledger.pending)
        sight = TASK.see(problem, ledger, best)
        assert (sight.complaints, sight.reached) == ((), not pending)
        assert not TASK.see(problem, ledger, best[1:]).reached
        assert not TASK.see(problem, ledger, best[1:]).complaints
        types = {part.type for part in goal.parts}
        foreign = next(row for row in range(len(world.catalog)) if world.catalog.type_of(row) not in types)
        (complaint,) = TASK.see(problem, ledger, [*best, foreign]).complaints
        assert complaint.facts == {"what": "wrong_project_part", "title": world.catalog.titles[foreign]}
        slot = next(slot for slot in problem.slots if slot.kind == "constraint")
        unmet = next(
            int(row)
            for row in goal.parts[slot.item].rows
            if not all(satisfied(world.catalog, np.array([row]), rule)[0] for rule in rules(ledger, slot.item))
        )
        (complaint,) = TASK.see(problem, ledger, [unmet]).complaints
        assert (complaint.facts["what"], complaint.facts["slot"].item) == ("violates", slot.item)
        assert complaint.keys == (complaint.facts["slot"].key,)
        if goal.tie is None:
            dear = [int(rows[np.argmax(cents(world.catalog, rows))]) for rows in fitting_rows(problem, ledger)]
            (complaint,) = TASK.see(problem, ledger, dear).complaints
            assert (complaint.facts["what"], complaint.keys) == ("over_budget", ("budget",))
            assert complaint.facts["got"] == pytest.approx(cents(world.catalog, dear).sum() / 100)


def test_hazards_are_hardly_ever_dropped(problems: list[Problem]) -> None:
    assert sum(bool(problem.dropped) for problem in problems if problem.world.axes.d >= 4) <= 0.05 * len(problems)


def test_equal_keys_give_equal_problems_and_a_salt_another_goal_in_the_same_world(words_engine: Any) -> None:
    axes, key = difficulty(7), ("E_BUNDLE", 5)
    first, again = generate(TASK, words_engine, axes, key), generate(TASK, words_engine, axes, key)
    assert (first.slots, first.omitted, first.switch) == (again.slots, again.omitted, again.switch)
    other = generate(TASK, words_engine, axes, key, ("other",))
    assert other.slots != first.slots
    rows = np.arange(500)
    assert (other.world.stock.lasting_rows(rows) == first.world.stock.lasting_rows(rows)).all()


@pytest.mark.parametrize(
    ("path", "mapping"), [("pc_parts", "pc_parts"), ("retail_demo_store.products.yaml", "retail_demo_store"),
                          ("dummyjson.products.json", None)],
)  # fmt: skip
def test_other_catalogs_get_projects_of_their_own(shared_data: Any, path: str, mapping: str | None) -> None:
    from ecomrlve.catalog.files import load_file
    from ecomrlve.catalog.search import SearchEngine

    if not (shared_data / path).exists():
        pytest.skip(f"no {path}")
    engine = SearchEngine(load_file(shared_data / path, mapping))
    for seed in range(0, 26, 2):
        problem = draw(engine, seed, seed % 13)
        assert len(problem.goal.parts) >= 3
        assert set(problem.goal.project.split()) & {"set"}
        check_budget(problem, told(problem), seed)


def test_a_catalog_with_too_few_types_is_refused_in_clear_words() -> None:
    from ecomrlve.catalog.search import SearchEngine

    records = [
        {"title": f"{kind} {number}", "type": kind, "price": 5.0 + number, "stock": 3}
        for kind in ("cup", "plate")
        for number in range(9)
    ]
    engine = SearchEngine(Catalog.from_records(records, name="two kinds"))
    with pytest.raises(GenerationError, match="'two kinds' supports no E_BUNDLE problem: it takes 3 product types"):
        draw(engine, 0, 0)


@pytest.mark.skipif("E_BUNDLE" not in TASKS, reason="not among the environments of this version")
@pytest.mark.parametrize("d", range(13))
def test_the_reference_plan_solves_it_within_its_plan(words_engine: Any, d: int) -> None:
    from ecomrlve.agents.base import play
    from ecomrlve.agents.reference import ReferenceAgent
    from ecomrlve.environment import Environment

    env = Environment(["E_BUNDLE"], words_engine)
    for seed in range(10):
        reward = play(env, ReferenceAgent(), seed, d)
        assert (reward.task, reward.correct) == (1.0, True), (seed, reward.reason)
        assert env.episode.turn <= env.episode.problem.plan.turns


@pytest.mark.skipif("E_BUNDLE" not in TASKS, reason="not among the environments of this version")
@pytest.mark.parametrize(
    ("d", "overrides"),
    [(0, {"turn_budget": 2}), (12, {"tool_budget": 2}), (6, {"search_depth": 20}), (6, {"sellout": 0.9})],
)
def test_the_reference_plan_copes_with_few_pages_and_turns(words_engine: Any, d: int, overrides: dict) -> None:
    from ecomrlve.agents.base import play
    from ecomrlve.agents.reference import ReferenceAgent
    from ecomrlve.environment import Environment

    env = Environment(["E_BUNDLE"], words_engine)
    for seed in range(3):
        assert play(env, ReferenceAgent(), seed, d, overrides).correct, seed
