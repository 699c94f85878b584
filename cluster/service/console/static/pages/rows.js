// The rows of a job as they come, its times, its queries and its history.
import { html, useEffect, useMemo, useState } from "../vendor/libraries.js";
import { call, onceKey, rows, skipped, times } from "../state.js";
import { Chart } from "../parts/chart.js";
import { attempt } from "../parts/shell.js";
import { length, moment, percent, short, whole } from "../parts/format.js";
import { RowTable } from "../parts/table.js";

const SERIES = [["latest time", "--accent"], ["watermark", "--partly", [6, 4]]];

export function Rows({ job }) {
  const [held, setHeld] = useState(null);
  return html`
    <${Facts} job=${job} />
    <div class="grid">
      <section class="card wide">
        <div class="heading">
          <h2>Rows</h2>
          <span class="pale">${skipped.value ? "more come than fit here; some are left out" : ""}</span>
          <button onClick=${() => setHeld(held ? null : rows.value)} aria-pressed=${held ? "true" : "false"}>${held ? "Follow again" : "Hold"}</button>
        </div>
        <${RowTable} rows=${held ?? rows.value} queries=${job.queries} newest=${true} empty="No rows yet: a row comes when its window ends." />
      </section>
      <section class="card"><h2>Watermark and latest time</h2><${Times} /></section>
      <${Queries} job=${job} />
      <${History} job=${job} />
    </div>`;
}

function Facts({ job }) {
  const { metrics } = job;
  const facts = {
    "events/s": short(job.events_rate), "rows/s": short(job.rows_rate), events: whole(metrics.events), rows: whole(metrics.rows),
    "watermark lag": length(metrics.watermark_lag), sharing: percent(metrics.sharing_rate), "checkpoint age": length(metrics.checkpoint_age),
    late: whole(metrics.late), dead: whole(metrics.dead), "of no query": whole(metrics.unmatched), dropped: whole(metrics.dropped),
  };
  return html`<dl class="facts">${Object.entries(facts).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Times() {
  const found = times.value;
  const data = useMemo(() => [0, 1, 2].map((at) => found.map((one) => one[at])), [found]);
  if (found.length === 0) return html`<p class="pale">No event yet.</p>`;
  return html`<${Chart} series=${SERIES} data=${data} label="The latest time of events and the watermark, over this clock" />`;
}

function Queries({ job }) {
  const [problem, setProblem] = useState(null);
  const add = async (event) => {
    event.preventDefault();
    const form = event.target;
    try {
      await call("POST", `/v1/workloads/${job.id}/queries`, { workload: new FormData(form).get("workload") }, onceKey());
      form.reset();
      setProblem(null);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const drop = (query) => {
    if (confirm(`Drop the query ${query}?`)) {
      attempt(() => call("DELETE", `/v1/workloads/${job.id}/queries/${encodeURIComponent(query)}`), `${query} was dropped.`);
    }
  };
  return html`<section class="card">
    <h2>Queries</h2>
    <ul class="list">${job.queries.map((query) => html`<li key=${query}>
      <span class="mono">${query}</span>
      ${job.queries.length > 1 && html`<button onClick=${() => drop(query)} aria-label=${`Drop ${query}`}>Drop</button>`}
    </li>`)}</ul>
    <form onSubmit=${add}>
      <label for="more">Add a query</label>
      <textarea id="more" name="workload" rows="4" required spellcheck=${false} placeholder="QUERY name RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 minute"></textarea>
      ${problem && html`<pre role="alert" class="bad">${problem}</pre>`}
      <div class="row"><button>Add</button><span class="pale">It answers the windows that begin after the latest event.</span></div>
    </form>
  </section>`;
}

function History({ job }) {
  const [entries, setEntries] = useState([]);
  useEffect(() => {
    call("GET", `/console/jobs/${job.id}/history`).then((found) => setEntries(found.history.toReversed()), () => {});
  }, [job.id, job.history]);
  return html`<section class="card wide">
    <h2>History</h2>
    <ol class="list">${entries.map((entry) => html`<li key=${entry.time}>
      <time datetime=${new Date(entry.time * 1000).toISOString()}>${moment(entry.time)}</time><strong>${entry.what}</strong>
      ${entry.why && html`<span class="why">${entry.why}</span>`}
    </li>`)}</ol>
  </section>`;
}
