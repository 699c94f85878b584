"""What users do in the console, in a real browser against the real service."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Thread
from time import sleep
from typing import Any

import httpx2
import pyarrow as pa
import pytest

from tests.service.console.browsing import axe_script, chromium, log_in, opened
from tests.service.rides import Sender, ended, rides, submitted, until_taken
from tests.service.serving import Served, insist

PAIRS = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 100 seconds SLIDE 100 seconds"
MORE = PAIRS.replace("pairs", "more").replace("SEQ(A, B+)", "B+")
WINDOWS = "GROUP-BY district WITHIN 1 minute SLIDE 1 minute"
SHARED = f"""QUERY kept RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) {WINDOWS};
QUERY arrived RETURN district, COUNT(*) PATTERN SEQ(Pickup, Travel+) {WINDOWS}"""
FOUND = """QUERY rising RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE a.v < b.v AND b.v < c.v WITHIN 40 seconds;
QUERY falling RETURN MATCHES PATTERN SEQ(A a, B b, D d) WHERE a.v < b.v AND b.v > d.v WITHIN 40 seconds"""
FIRST_PAINT_MILLISECONDS = 1000
MAX_FIRST_LOAD_BYTES = 300_000


@pytest.fixture(scope="module")
def browser(service: Served) -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, service: Served) -> Iterator[Any]:
    with opened(browser, service) as found:
        yield found


def send(client: httpx2.Client, job: str, *times: int, first: str = "A") -> None:
    """Send an event of type A, or another, and then as many of type B."""
    lines = [json.dumps({"type": first if at == 0 else "B", "time": time}) for at, time in enumerate(times)]
    headers = {"Content-Type": "application/x-ndjson"}
    insist(client, "POST", f"/v1/workloads/{job}/events", content="\n".join(lines).encode(), headers=headers)


def write(page: Any, workload: str) -> None:
    """Replace the text of the editor, as a keyboard does."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(workload)


def facts(page: Any) -> dict[str, str]:
    names, values = (page.locator(f".facts {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


def test_a_wrong_token_is_refused_and_the_right_one_serves_until_the_log_out(browser: Any, service: Served) -> None:
    with opened(browser, service, logged_in=False) as page:
        page.get_by_label("Token of the service").fill("a guess")
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("this is not the token of the service").wait_for()
        log_in(page)
        page.reload()
        page.get_by_role("heading", name="Jobs").wait_for()
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token of the service").wait_for()
        assert page.request.get("/v1/workloads").status == 401


def test_a_workload_with_a_mistake_is_mended_and_submitted(page: Any, client: httpx2.Client) -> None:
    page.get_by_role("link", name="Submit a workload").click()
    write(page, PAIRS.replace("PATTERN", "PATERN"))
    page.get_by_label("Problems").get_by_text("there is no keyword `PATERN`").wait_for()
    assert "PATERN" in page.locator(".cm-lintRange-error").all_inner_texts()
    assert page.get_by_role("button", name="Submit").is_disabled()
    write(page, PAIRS)
    page.get_by_text("no problems").wait_for()
    page.get_by_label("Name").fill("mended")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="mended").wait_for()
    page.get_by_text("submitted", exact=True).wait_for()
    send(client, "mended", 1, 2, 3, 100)
    page.get_by_role("cell", name="3", exact=True).wait_for()
    insist(client, "DELETE", "/v1/workloads/mended")
    page.get_by_text("There is no job of this name.").wait_for()


def test_rows_over_a_few_events_have_every_digit(page: Any) -> None:
    page.get_by_role("link", name="Workbench", exact=True).click()
    write(page, "QUERY all RETURN COUNT(*) PATTERN A+ WITHIN 100 seconds SLIDE 100 seconds")
    page.get_by_label("Events").fill("\n".join(json.dumps({"type": "A", "time": at}) for at in range(80)))
    cell = page.locator("td.number").last
    digits = str(2**80 - 1)
    page.wait_for_function("() => document.querySelector('td.number:last-child')")
    assert cell.inner_text() == digits
    page.get_by_label("Events").fill('{"type": "A", "time": 1}\n{"type": "A"}')
    page.get_by_text("it has no time").wait_for()


def test_an_empty_answer_says_why(page: Any) -> None:
    page.get_by_role("link", name="Workbench", exact=True).click()
    pooled = (
        "QUERY pooled RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE A.kind = 'pool' WITHIN 100 seconds SLIDE 100 seconds"
    )
    write(page, f"{PAIRS};\n{pooled};\n{pooled.replace('pooled', 'again')}")
    page.get_by_label("Events").fill('{"type": "A", "time": 1, "kind": "Pool"}\n{"type": "B", "time": 2}')
    why = page.get_by_label("Why pooled has no row")
    why.get_by_text("no event has 'pool' in `kind`").wait_for()
    assert "line 2, column " in why.inner_text()
    assert why.locator(".mend").inner_text() == "write 'Pool': then there is 1 row"
    assert "type=A  time=1  kind=Pool" in why.inner_text()
    page.get_by_role("button", name="Explain again").click()
    page.get_by_label("Why again has no row").get_by_text("write 'Pool'").wait_for()
    page.get_by_label("Events").fill('{"type": "A", "time": 1, "kind": "pool"}\n{"type": "B", "time": 2}')
    why.wait_for(state="detached")


def test_bursts_are_watched_while_events_are_sent(page: Any, client: httpx2.Client, tmp_path: Path) -> None:
    events = ended(rides(tmp_path, 4000))
    with submitted(client, SHARED, name="watched", actors=1):
        sender = Sender(client, "watched", events, 20, pause=0.2)
        sender.more(2)
        until_taken(client, "watched", 1)
        going = Thread(target=sender.rest, daemon=True)
        going.start()
        page.goto("/console/#/jobs/watched/sharing")
        page.locator(".lanes rect").first.wait_for()
        before = page.locator(".big strong").first.inner_text()
        page.wait_for_function("(before) => document.querySelector('.big strong').innerText !== before", arg=before)
        going.join()
        page.get_by_role("application").press("End")
        page.locator(".lanes .chosen").wait_for()
        assert {"cost shared", "cost apart", "choice"} <= set(facts(page))
        taken, apart = (int(text.replace(",", "")) for text in page.locator(".big strong").all_inner_texts())
        assert 0 < taken <= apart


def letters(count: int) -> pa.Table:
    """Return an event a second: A and B often, C and D less so."""
    draw = Random(5)
    types, values = draw.choices("ABCD", [3, 3, 2, 2], k=count), [draw.randrange(1000) for _ in range(count)]
    return pa.table({"type": types, "time": range(count), "v": values})


def test_stored_matches_have_a_lane_by_node_of_the_plan(page: Any, client: httpx2.Client) -> None:
    events = letters(3000)
    with submitted(client, FOUND, name="found", actors=1, strategy="mpm"):
        Sender(client, "found", events, 10, pause=0.3).rest()
        until_taken(client, "found", events.num_rows)
        page.goto("/console/#/jobs/found/sharing")
        page.get_by_role("application").press("End")
        page.locator(".lanes .chosen").wait_for()
        assert page.locator(".lanes text.name").all_text_contents() == ["SEQ(A, B) where A.v < B.v"]
        assert int(facts(page)["matches in this batch"].replace(",", "")) > 0
        assert page.get_by_text("rising, falling").is_visible()
        stored, apart = (int(text.replace(",", "")) for text in page.locator(".big strong").all_inner_texts())
        assert stored > 0
        assert apart == 2 * stored


def test_queries_are_added_and_dropped(page: Any, client: httpx2.Client) -> None:
    with submitted(client, PAIRS, name="changing"):
        page.goto("/console/#/jobs/changing")
        page.get_by_label("Add a query").fill(MORE.replace("WITHIN", "WITHOUT"))
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("alert").get_by_text("the query lacks WITHIN").wait_for()
        page.get_by_label("Add a query").fill(MORE)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_text("queries added").wait_for()
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Drop pairs").click()
        page.get_by_text("queries dropped").wait_for()
        assert insist(client, "GET", "/v1/workloads/changing").json()["queries"] == ["more"]


def test_a_killed_actor_is_replaced_and_the_history_says_so(page: Any, client: httpx2.Client, service: Served) -> None:
    with submitted(client, PAIRS, name="killed", actors=1):
        send(client, "killed", 1, 2)
        until_taken(client, "killed", 2)
        page.goto("/console/#/jobs/killed")
        page.get_by_text("started", exact=True).wait_for()
        for pid in service.pids("GraphActor"):
            os.kill(pid, signal.SIGKILL)
        send(client, "killed", 3, 100, first="B")
        page.get_by_text("recovered", exact=True).wait_for(timeout=90_000)
        page.get_by_role("cell", name="3", exact=True).wait_for(timeout=90_000)


def test_a_job_is_paused_resumed_and_removed_by_keyboard(page: Any, client: httpx2.Client) -> None:
    with submitted(client, PAIRS, name="stays"):
        insist(client, "POST", "/v1/workloads", json={"workload": PAIRS, "name": "goes"})
        row = page.get_by_role("row", name="goes")
        row.get_by_role("button", name="Pause").press("Enter")
        row.get_by_text("paused").wait_for()
        row.get_by_role("button", name="Resume").press("Enter")
        row.get_by_text("waiting").wait_for()
        page.once("dialog", lambda dialog: dialog.dismiss())
        row.get_by_role("button", name="Remove goes").press("Enter")
        assert row.count() == 1
        page.once("dialog", lambda dialog: dialog.accept())
        row.get_by_role("button", name="Remove goes").press("Enter")
        row.wait_for(state="detached")
        assert page.get_by_role("row", name="stays").count() == 1


def test_pointing_at_a_part_of_a_plan_marks_what_belongs_to_it(page: Any, client: httpx2.Client) -> None:
    with submitted(client, SHARED, name="planned"):
        page.goto("/console/#/jobs/planned/plan")
        page.locator(".picture svg").first.wait_for()
        page.locator(".tree .head", has_text="query arrived").hover()
        marked = page.locator(".marked")
        assert "Pickup" in " ".join(marked.all_text_contents())
        assert page.locator(".picture .marked").count() > 0
        assert page.locator(".marked .query").count() == 1
        page.locator(".tree .head", has_text="query kept").focus()
        assert "query kept" in " ".join(marked.all_text_contents())


def test_a_page_that_nobody_sees_is_told_nothing_and_continues_where_it_was(page: Any, client: httpx2.Client) -> None:
    with submitted(client, PAIRS, name="resumed"):
        send(client, "resumed", 1, 2, 100)
        page.goto("/console/#/jobs/resumed")
        rows = page.get_by_role("region", name="Rows").locator("tbody tr")
        rows.first.wait_for()
        see(page, hidden=True)
        send(client, "resumed", 110, 120, 200)
        until_taken(client, "resumed", 6)
        sleep(3)
        assert rows.count() == 1
        see(page, hidden=False)
        rows.nth(1).wait_for()
        sleep(2)
        assert rows.count() == 2, "no row twice"


def see(page: Any, hidden: bool) -> None:
    """Tell a page that its tab was hidden, or is shown again."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


ROUTES = ("#/jobs", "#/jobs/pages", "#/jobs/pages/plan", "#/jobs/pages/sharing", "#/workbench")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_every_page_fits_and_has_no_barrier(
    browser: Any, service: Served, client: httpx2.Client, scheme: str, width: int
) -> None:
    axe = axe_script().read_text()
    with (
        submitted(client, SHARED, name="pages"),
        opened(browser, service, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce") as page,
    ):
        page.set_viewport_size({"width": width, "height": 844})
        for route in ROUTES:
            page.goto(f"/console/{route}")
            page.locator("main h1").wait_for()
            page.wait_for_function("() => !/Loading|Planning|Waiting for the service/.test(document.body.innerText)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, route
            page.evaluate(axe)
            found = page.evaluate("async () => (await axe.run()).violations.map((one) => [one.id, one.nodes[0].html])")
            assert found == [], route


def test_the_first_load_is_small_and_soon_painted(browser: Any, service: Served) -> None:
    with opened(browser, service) as page:
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        sizes = "performance.getEntries().reduce((sum, one) => sum + (one.encodedBodySize ?? 0), 0)"
        print(f"first paint {painted:.0f} ms, {page.evaluate(sizes):,} bytes")  # noqa: T201
        assert painted <= FIRST_PAINT_MILLISECONDS
        assert 10_000 < page.evaluate(sizes) <= MAX_FIRST_LOAD_BYTES
