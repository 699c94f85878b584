import { html } from "../vendor/libraries.js";
import { jobs } from "../state.js";
import { Actions, Sparkline, State } from "../parts/shell.js";
import { length, percent, short, whole } from "../parts/format.js";

const COLUMNS = [
  ["events/s", (job) => short(job.events_rate)],
  ["rows/s", (job) => short(job.rows_rate)],
  ["lag", (job) => length(job.metrics.watermark_lag), "seconds of events between the latest one and the watermark"],
  ["sharing", (job) => percent(job.metrics.sharing_rate), "bursts whose work several queries shared"],
  ["checkpoint", (job) => length(job.metrics.checkpoint_age), "since the last batch was recorded"],
  ["late", (job) => whole(job.metrics.late)],
  ["dead", (job) => whole(job.metrics.dead)],
];

export function Jobs() {
  if (jobs.value === null) return html`<h1>Jobs</h1><p class="pale">Waiting for the service…</p>`;
  const all = [...jobs.value.values()];
  return html`
    <div class="heading"><h1>Jobs</h1><a class="button first" href="#/workbench">Submit a workload</a></div>
    ${all.length === 0
      ? html`<p class="empty">There are no jobs. Write a workload in the <a href="#/workbench">workbench</a>, and submit it.</p>`
      : html`<table class="jobs">
          <thead><tr>
            <th scope="col">job</th><th scope="col">state</th>
            ${COLUMNS.map(([name, , title]) => html`<th scope="col" class="number" title=${title}>${name}</th>`)}
            <th scope="col">events/s, last 2 min</th><th scope="col"><span class="hidden">actions</span></th>
          </tr></thead>
          <tbody>${all.map((job) => html`<${Job} key=${job.id} job=${job} />`)}</tbody>
        </table>`}
    ${all.filter((job) => job.error).map((job) => html`<p class="notice bad" key=${job.id}><strong>${job.id}:</strong> ${job.error.detail}</p>`)}`;
}

function Job({ job }) {
  return html`<tr>
    <th scope="row"><a href=${`#/jobs/${job.id}`}>${job.id}</a> <span class="pale">${job.queries.length} ${job.queries.length === 1 ? "query" : "queries"}</span></th>
    <td><${State} of=${job} /></td>
    ${COLUMNS.map(([name, value]) => html`<td class="number" data-name=${name}>${value(job)}</td>`)}
    <td><${Sparkline} values=${job.rates} label=${`events a second of ${job.id}, now ${short(job.events_rate)}`} /></td>
    <td><${Actions} job=${job} /></td>
  </tr>`;
}
