// A job: its rows, plan or sharing, below what all three have.
import { html, signal, useEffect } from "../vendor/libraries.js";
import { follow, jobs, route } from "../state.js";
import { Actions, State } from "../parts/shell.js";
import { Rows } from "./rows.js";

const TABS = { rows: "Rows", plan: "Plan", sharing: "Sharing" };
const SHOW = { rows: "rows", sharing: "bursts" };
const LATER = {
  plan: () => import("./plan.js").then((found) => found.Plan),
  sharing: () => import("./sharing.js").then((found) => found.Sharing),
};
const loaded = signal({ rows: Rows });

export function Page() {
  const { job: name, tab } = route.value;
  useEffect(() => {
    follow(name, SHOW[tab] ?? null);
    if (LATER[tab] && !loaded.value[tab]) LATER[tab]().then((found) => { loaded.value = { ...loaded.value, [tab]: found }; });
  }, [name, tab]);
  const job = jobs.value?.get(name);
  if (!job) {
    return html`<h1>${name}</h1><p class="empty">${jobs.value ? "There is no job of this name." : "Waiting for the service…"} <a href="#/jobs">All jobs</a></p>`;
  }
  const Tab = loaded.value[tab];
  return html`
    <div class="heading">
      <h1>${name}</h1><${State} of=${job} />
      <nav aria-label="Parts of the job">
        ${Object.entries(TABS).map(([key, title]) => html`<a key=${key} href=${`#/jobs/${name}/${key}`} aria-current=${key === tab ? "page" : undefined}>${title}</a>`)}
      </nav>
      <${Actions} job=${job} removed=${() => { location.hash = "#/jobs"; }} />
    </div>
    ${job.error && html`<p class="notice bad"><strong>Failed:</strong> <span>${job.error.detail}</span></p>`}
    ${Tab ? html`<${Tab} job=${job} />` : html`<p class="pale">Loading…</p>`}`;
}
