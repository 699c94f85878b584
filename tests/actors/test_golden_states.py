"""States of earlier code: today's goes on with them as that would have, or says why not and what to do."""

from __future__ import annotations

import pickle
import zlib
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from elsinore._version import __version__
from elsinore.actors.engine import Engine
from elsinore.actors.plan_state import ADDED, NAMES, TAGS, load_plan, save_plan
from elsinore.actors.state import FORMAT, UnreadableError, made, pack, unpack
from elsinore.errors import InputError
from elsinore.planner.language import syntax
from elsinore.planner.plans import sharing
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.clock import Clock
from tests.golden_states import FOLDER, KINDS, LATENESS, NUMERICS, Kind, frozen, planned, rest, saved, sets_in

STATES = list(product(KINDS, NUMERICS))
WAY_OUT = "begin a new checkpoint, or go on with the version that wrote this one"
NOW = f"this is Elsinore {__version__}, which reads format {FORMAT}"


def restored(kind: Kind, state: bytes) -> Engine:
    return Engine.restore(planned(kind.changed or kind.workload, kind.strategy), state)


@pytest.mark.parametrize(("name", "numeric"), STATES)
def test_a_state_is_restored_and_gives_the_rest_of_the_rows(name: str, numeric: str) -> None:
    left = rest(restored(KINDS[name], saved(name, numeric)))
    assert left == frozen()[name, numeric]
    assert int(left.partition(":")[0]) > 5


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.changed])
def test_what_is_left_depends_on_what_was_before(name: str) -> None:
    kind = KINDS[name]
    plan = planned(kind.workload, kind.strategy)
    assert rest(Engine(plan, Clock.of(pa.int64(), "s", plan.spans), "exact", LATENESS)) != frozen()[name, "exact"]


@pytest.mark.parametrize(("name", "numeric"), STATES)
def test_a_state_has_the_share_sets_that_it_is_there_for(name: str, numeric: str) -> None:
    assert sets_in(saved(name, numeric)) == KINDS[name].sets


def test_there_is_a_state_of_every_kind_of_share_set() -> None:
    known = {tag for tag, kind in TAGS.items() if issubclass(kind, ShareSet)}
    assert {tag for kind in KINDS.values() for tag in kind.sets} == known
    assert set(frozen()) == set(STATES)


def test_a_state_says_which_version_wrote_it() -> None:
    state = unpack(saved("alone", "exact"))
    assert (state["format"], state["elsinore"]) == (FORMAT, "0.1.0")


def test_a_state_of_the_format_before_is_refused() -> None:
    data = zlib.decompress((FOLDER / "format-2.state").read_bytes())
    assert unpack(data)["format"] == FORMAT - 1
    with pytest.raises(InputError) as found:
        restored(KINDS["hamlet"], data)
    assert str(found.value) == (
        f"this state was written by an earlier version of Elsinore in format {FORMAT - 1}; {NOW}: {WAY_OUT}"
    )


def changed(**others: Any) -> bytes:
    return pack({**unpack(saved("hamlet", "exact")), **others})


def in_plan(old: str, new: str, **others: Any) -> bytes:
    """Change what the first part's plan calls `old`, or its fields."""
    state = unpack(saved("hamlet", "exact"))
    state["parts"][0]["plan"] = _renamed(state["parts"][0]["plan"], old, new, others)
    return pack(state)


def _renamed(value: Any, old: str, new: str, others: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_renamed(one, old, new, others) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {old} and isinstance(value[old], dict):
        return {new: {**{name: one for name, one in value[old].items() if name not in others}, **_named(others)}}
    return {name: _renamed(one, old, new, others) for name, one in value.items()}


def _named(others: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in others.items() if one is not None}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (changed(format=FORMAT + 1, elsinore="9.8"), f"was written by Elsinore 9.8 in format {FORMAT + 1}; "),
        (pack({"numbers": [1]}), "was written by an earlier version of Elsinore; "),
        (pack([1, 2]), "this is not a state of Elsinore; "),
        (b"\xc1nonsense", "this is not a state of Elsinore; "),
        (saved("hamlet", "exact")[:100], "this is not a state of Elsinore; "),
        (in_plan("sharer", "borrower"), "a plan with a part called 'borrower', which this version does not know; "),
        (
            in_plan("sharer", "elsinore.planner.plans.sharing.Sharer"),
            "a part called 'elsinore.planner.plans.sharing.Sharer', which",
        ),
        (in_plan("sharer", "sharer", colour=3), "a sharer of other fields (accepts, bound, colour, consumed, "),
        (in_plan("sharer", "sharer", end=None), "a sharer of other fields (accepts, bound, consumed, inputs, member, "),
        (changed(parts=[{}]), "holds other things than this version knows (KeyError: 'plan'); "),
        (changed(clock=[]), "holds other things than this version knows (IndexError: "),
    ],
)
def test_what_this_version_does_not_know_is_refused(state: bytes, said: str) -> None:
    with pytest.raises(UnreadableError) as found:
        restored(KINDS["hamlet"], state)
    assert said in str(found.value)
    assert str(found.value).endswith(f"{NOW}: {WAY_OUT}")
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)


def test_fields_have_names_and_may_be_in_any_order() -> None:
    plan = planned(KINDS["gloria"].workload, "gloria")
    state = save_plan(plan)

    def turned(value: Any) -> Any:
        if isinstance(value, list):
            return [turned(one) for one in value]
        return {name: turned(value[name]) for name in reversed(value)} if isinstance(value, dict) else value

    assert save_plan(load_plan(turned(state))) == state


def test_everything_that_stands_in_a_plan_has_a_tag() -> None:
    """No tag is that of two classes, nor one of the words for plain values."""
    wanted = {one for module in (syntax, sharing) for one in vars(module).values() if is_dataclass(one)}
    assert wanted - set(TAGS.values()) == {syntax.Workload}
    assert len(NAMES) == len(TAGS)
    assert not {"integer", "set", "mapping", "fraction"} & set(TAGS)
    assert [tag for tag, kind in TAGS.items() if not fields(kind)] == []


def test_tags_name_neither_modules_nor_classes() -> None:
    """All that a state of every kind has for names are tags and fields."""
    for name in KINDS:
        text = repr([part["plan"] for part in unpack(saved(name, "exact"))["parts"]])
        assert "planner" not in text, name
        assert "actors" not in text, name


@dataclass(frozen=True)
class Record:
    number: int
    count: int = 0


def test_a_document_has_exactly_the_fields_of_its_class() -> None:
    assert made(Record, {"count": 2, "number": 1}, "record") == Record(1, 2)
    for other in ({"number": 1}, {"number": 1, "count": 2, "more": 3}, [1, 2]):
        with pytest.raises(UnreadableError, match="record of other fields"):
            made(Record, other, "record")


def test_a_field_that_was_added_with_a_default_may_be_missing() -> None:
    """As in the golden states: they were written before queries had a LIMIT."""
    assert made(Record, {"number": 1}, "record", frozenset({"count"})) == Record(1)
    with pytest.raises(UnreadableError, match="record of other fields"):
        made(Record, {"count": 1}, "record", frozenset({"count"}))
    plan = planned(KINDS["gloria"].workload, "gloria")
    state = save_plan(plan)
    for query, *_ in state["queries"]:
        del query["query"]["limit"], query["query"]["limit_place"]
    assert load_plan(state).queries == plan.queries


def test_added_fields_have_defaults() -> None:
    for tag, names in ADDED.items():
        known = {field.name: field for field in fields(TAGS[tag])}
        assert all(known[name].default is not MISSING for name in names)
