"""Search: exact filters, whole pages, sorting, any text as a query, and the same answer every time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.filters import parse_filters
from ecomrlve.catalog.search import SORTS, SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.streams import Stream

# What a sort goes by, and in which direction.
SORTED_BY = {
    "relevance": (None, 0), "price_asc": ("price", 1), "price_desc": ("price", -1), "rating": ("rating", -1),
    "ship_days": ("ship_days", 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def search(call):
    """A call of the search tool: `search(world, "lamp", limit=5)`."""
    return lambda world, query, **args: call(world, "catalog_search", query=query, **args)


@pytest.fixture(scope="module")
def all_pages(search):
    """The rows of all pages of a search."""

    def read(world: Any, query: str, limit: int = 25, **args: Any) -> list[int]:
        shown: list[int] = []
        for page in range(1, 1_000):
            result = search(world, query, limit=limit, page=page, **args)
            assert result["results"] or page == 1, "a page was announced that holds nothing"
            shown += rows_of(world, result)
            if not result["more"]:
                return shown
        raise AssertionError("the pages never end")

    return read


@pytest.fixture(scope="module")
def small_engine():
    return SearchEngine(generate(1_000))


def rows_of(world: Any, result: dict[str, Any]) -> list[int]:
    return [world.row(hit["id"]) for hit in result["results"]]


def satisfying(catalog: Catalog, filters: dict[str, Any]) -> list[int]:
    """The rows that filters of the form {key: {le|ge|eq: value}} let through, product by product."""
    found = []
    for row in range(len(catalog)):
        for key, condition in filters.items():
            own = catalog.type_of(row) if key == "type" else catalog.columns[key].get(row)
            ((operator, value),) = condition.items()
            if own is None:
                break
            if operator == "eq" and (fold(own) != fold(value) if isinstance(own, str) else own != value):
                break
            if (operator == "le" and own > value) or (operator == "ge" and own < value):
                break
        else:
            found.append(row)
    return found


@st.composite
def filters_of_a_type(draw: st.DrawFn, catalog: Catalog) -> dict[str, Any]:
    """A type and up to four conditions, each of which some product of the type meets."""
    anchor = draw(st.integers(0, len(catalog) - 1))
    kin = catalog.rows_of_type(catalog.type_of(anchor)).tolist()
    filters: dict[str, Any] = {"type": {"eq": catalog.type_of(anchor)}} if draw(st.booleans()) else {}
    names = ["price", "rating", "ship_days", "brand", *catalog.type_attributes(anchor)]
    for name in draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=4)):
        value = catalog.columns[name].get(draw(st.sampled_from(kin)))
        operators = ["eq", "le", "ge"] if catalog.columns[name].numeric else ["eq"]
        filters[name] = {draw(st.sampled_from(operators)): value}
    return filters


# --- filters and pages -------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(data=st.data())
def test_filtered_rows_are_exactly_those_that_satisfy_all_filters(words_engine, catalog, data):
    filters = data.draw(filters_of_a_type(catalog))
    constraints, _ = parse_filters(catalog, filters)
    assert words_engine.matching(constraints).tolist() == satisfying(catalog, filters)


def test_a_search_shows_all_rows_that_satisfy_the_filters_and_no_others(new_world, catalog, all_pages):
    world = new_world()
    for name in catalog.type_names[::20]:
        median = float(np.median(catalog.columns["price"].values[catalog.rows_of_type(name)]))
        filters = {"type": {"eq": name}, "price": {"le": median}, "rating": {"ge": 3.5}}
        shown = all_pages(world, name, filters=filters)
        assert sorted(shown) == satisfying(catalog, filters)


@pytest.mark.parametrize("in_stock", [True, False])
def test_in_stock_follows_the_shelf_and_what_has_sold_out(new_world, catalog, in_stock, all_pages):
    name = catalog.type_names[0]
    rows = catalog.rows_of_type(name).tolist()
    world = new_world(sellout=0.5, variant_share=0.0, by_variant=False)
    filters = {"type": name, "in_stock": in_stock}
    on_shelf = {row for row in rows if catalog.stock[row] > 0}
    assert set(all_pages(world, name, filters=filters)) == (on_shelf if in_stock else set(rows) - on_shelf)
    for row in rows:
        world.show(row)
    gone = {row for row, _ in world.stock.end_turn()}
    assert len(gone & on_shelf) > 10
    left = on_shelf - gone
    assert set(all_pages(world, name, filters=filters)) == (left if in_stock else set(rows) - left)


def test_impossible_filters_give_an_empty_page_and_no_distractors(new_world, search):
    world = new_world(d=12, distractors=0.9)
    for filters in ({"price": {"le": 0}}, {"type": "flying carpet"}, {"brand": "nobody", "in_stock": True}):
        assert search(world, "lamp", filters=filters) == {"results": [], "page": 1, "more": False}


@pytest.mark.parametrize("share", [0.0, 0.24, 0.9])
def test_pages_of_any_size_hold_each_hit_once(new_world, catalog, share, all_pages):
    world = new_world(distractors=share)
    name = catalog.type_names[3]
    whole = all_pages(world, name, limit=200, filters={"type": name})
    assert len(set(whole)) == len(whole)
    assert set(catalog.rows_of_type(name).tolist()) <= set(whole)
    for limit in (1, 7, 10):
        assert all_pages(world, name, limit=limit, filters={"type": name}) == whole


def test_paging_through_the_whole_shop_shows_every_product_once(new_world, small_engine, all_pages):
    world = new_world(engine=small_engine, distractors=0.24)
    assert sorted(all_pages(world, "lamp", limit=100)) == list(range(1_000))


def test_a_page_never_holds_more_than_the_search_depth(new_world, search):
    world = new_world(search_depth=30)
    assert len(search(world, "lamp", limit=10**6)["results"]) == 30
    first, second = (rows_of(world, search(world, "lamp", limit=10**6, page=page)) for page in (1, 2))
    assert rows_of(world, search(world, "lamp", limit=20, page=3)) == [*first, *second][40:60]


def test_a_page_far_behind_the_last_is_empty(new_world, search):
    assert search(new_world(), "lamp", page=10**9, limit=200) == {"results": [], "page": 10**9, "more": False}


@pytest.mark.parametrize("args", [{"limit": 0}, {"limit": -1}, {"page": 0}, {"page": -(10**9)}])
def test_pages_and_limits_start_at_one(new_world, args, search):
    assert search(new_world(), "lamp", **args)["error"]["code"] == "bad_page"


# --- order -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def patchy() -> SearchEngine:
    """Products of which many have no rating or delivery time, and many are equal."""
    stream = Stream("patchy")
    records = [
        {
            "title": stream.choice(["Oak Table", "Oak Desk", "Pine Table"]),
            "type": "table",
            "price": float(stream.integer(5) + 1),
            "rating": None if stream.chance(0.3) else stream.integer(5) + 1,
            "ship_days": None if stream.chance(0.3) else stream.integer(4) + 1,
            "stock": 5,
        }
        for _ in range(200)
    ]
    return SearchEngine(Catalog.from_records(records, name="patchy"))


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("query", ["oak table", ""])
def test_sorting_goes_by_the_value_then_relevance_then_row(patchy, sort, query):
    column, sign = SORTED_BY[sort]
    scores = patchy.scores(query)

    def key(row: int) -> tuple[bool, float, float, int]:
        value = patchy.catalog.columns[column].get(row) if column else 0
        return value is None, sign * (value or 0), -float(scores[row]), row

    rows = np.arange(3, 180)
    assert patchy.rank(query, rows, sort).tolist() == sorted(rows.tolist(), key=key)


@pytest.mark.parametrize("sort", SORTS)
def test_the_tool_sorts_what_it_shows(new_world, catalog, sort, search):
    world = new_world()
    name = catalog.type_names[7]
    hits = search(world, name, filters={"type": name}, sort=sort, limit=100)["results"]
    assert len(hits) == len(catalog.rows_of_type(name))
    column, sign = SORTED_BY[sort]
    if column is not None:
        values = [sign * hit[column] for hit in hits]
        assert values == sorted(values)


def test_an_empty_query_finds_everything_equally_relevant(words_engine, catalog):
    for query in ("", "   ", "\n\t"):
        assert not words_engine.scores(query).any()
        assert words_engine.rank(query, np.arange(50, 90)).tolist() == list(range(50, 90))


@pytest.mark.parametrize(
    "query",
    [
        "日本語の靴", "🛒🛒🛒", "ключ", "مصباح", "e\u0301clair", "\u200b\u200d", "lamp\x00lamp", "<b>lamp</b>",
        "'; DROP TABLE", "%s{}\\", "ﬁtness", "ＬＡＭＰ", "\ud800", "١٢٣", ". ' .'", "-1", "1e999",
    ],
)  # fmt: skip
def test_any_text_is_a_query(words_engine, query):
    scores = words_engine.scores(query)
    assert scores.shape == (len(words_engine.catalog),)
    assert np.isfinite(scores).all()
    assert scores.min() >= 0
    assert scores.max() <= 1


@pytest.mark.parametrize(
    "query",
    ["lamp " * 2_000, "a" * 10_000, "zq" * 5_000, " ".join(f"wrd{number}x" for number in range(1_250))],
    ids=["one word again and again", "one letter", "one long word", "many unknown words"],
)
def test_a_query_of_ten_kilobytes_is_answered(new_world, query, search):
    assert len(query) >= 9_000
    assert len(search(new_world(), query)["results"]) == 10


def test_repeating_a_query_in_itself_changes_nothing(words_engine):
    assert np.array_equal(words_engine.scores("desk lamp " * 1_000), words_engine.scores("desk lamp"))


def test_letter_case_and_spaces_of_a_query_do_not_count(words_engine):
    rows = np.arange(len(words_engine.catalog))
    plain = words_engine.rank("trail running shoes", rows)
    for query in ("TRAIL Running shoes", "  trail  running\nshoes ", "ｔｒａｉｌ running shoes"):
        assert np.array_equal(words_engine.rank(query, rows), plain)


# --- the same answer every time ----------------------------------------------------------------------------------


def test_answers_do_not_depend_on_what_was_asked_before(words_engine, catalog):
    queries = [catalog.titles[row] for row in range(0, 3_000, 10)]
    first = {query: words_engine.scores(query).copy() for query in queries[:20]}
    for query in queries:  # more than the engine remembers
        words_engine.scores(query)
    fresh = SearchEngine(catalog)
    for query, scores in first.items():
        assert np.array_equal(words_engine.scores(query), scores)
        assert np.array_equal(fresh.scores(query), scores)


def test_answers_do_not_depend_on_who_asks_at_the_same_time(words_engine, catalog):
    queries = [f"{catalog.type_names[number]} x" for number in range(6)] * 4
    rows = np.arange(len(catalog))
    alone = [words_engine.rank(query, rows).tolist() for query in queries[:6]] * 4
    crowd = SearchEngine(catalog)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda query: crowd.rank(query, rows).tolist(), queries)) == alone


def test_a_search_twice_in_an_episode_gives_the_same_page(new_world, search):
    world = new_world(distractors=0.24)
    args = {"filters": {"price": {"le": 40}}, "sort": "rating", "limit": 30, "page": 2}
    assert search(world, "garden hose", **args) == search(world, "garden hose", **args)


def test_what_one_episode_does_to_its_results_does_not_reach_another(new_world, search):
    one, other = new_world(1), new_world(1)
    for hit in search(one, "lamp")["results"]:
        hit["attributes"].clear()
        hit["title"] = "mine"
    assert all(hit["attributes"] and hit["title"] != "mine" for hit in search(other, "lamp")["results"])
