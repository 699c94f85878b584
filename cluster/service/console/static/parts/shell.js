// The frame of all pages, and the parts that several of them have.
import { html, signal } from "../vendor/libraries.js";
import { call, link, logOut, route } from "../state.js";

/** The last thing that went wrong with a request of the user, or was done. */
export const notice = signal(null);

export function say(text, bad = false) {
  notice.value = { text, bad };
}

/** Do what a user asked for, and say what went wrong. */
export async function attempt(what, done) {
  try {
    const found = await what();
    if (done) say(done);
    return found;
  } catch (error) {
    say(error.message, true);
    return undefined;
  }
}

export function Shell({ children }) {
  const here = (page) => (route.value.page === page ? "page" : undefined);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="#/jobs">Elsinore</a>
      <nav aria-label="Pages">
        <a href="#/jobs" aria-current=${here("jobs")}>Jobs</a>
        <a href="#/workbench" aria-current=${here("workbench")}>Workbench</a>
      </nav>
      <${Link} />
      <button class="quiet" onClick=${logOut}>Log out</button>
    </header>
    <main id="main" tabindex="-1"><${Notice} />${children}</main>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function Link() {
  const words = { live: "live", away: "the service does not answer; trying again", "": "connecting" };
  return html`<span class=${`link ${link.value}`} role="status">${words[link.value]}</span>`;
}

function Notice() {
  const found = notice.value;
  return html`<div role="status" aria-live="polite">
    ${found && html`<p class=${found.bad ? "notice bad" : "notice"}>
      <span>${found.text}</span><button class="quiet" onClick=${() => { notice.value = null; }}>Dismiss</button>
    </p>`}
  </div>`;
}

export function State({ of }) {
  return html`<span class=${`state ${of.state}`}>${of.state}</span>`;
}

/** The buttons that pause, resume and remove a job. */
export function Actions({ job, removed }) {
  const path = `/v1/workloads/${job.id}`;
  const stopped = job.state === "paused" || job.state === "failed";
  const remove = () => {
    if (confirm(`Remove ${job.id}, with its events and rows?`)) {
      attempt(() => call("DELETE", path), `${job.id} was removed.`).then(removed);
    }
  };
  return html`<span class="actions">
    ${stopped
      ? html`<button onClick=${() => attempt(() => call("POST", `${path}/resume`), `${job.id} was resumed.`)}>Resume</button>`
      : html`<button onClick=${() => attempt(() => call("POST", `${path}/pause`), `${job.id} was paused.`)}>Pause</button>`}
    <button class="danger" onClick=${remove} aria-label=${`Remove ${job.id}`}>Remove</button>
  </span>`;
}

export function Sparkline({ values, label }) {
  const most = Math.max(1, ...values);
  const points = values.map((value, at) => `${(at / Math.max(1, values.length - 1)) * 96 + 2},${22 - (value / most) * 20}`);
  return html`<svg class="spark" viewBox="0 0 100 24" role="img" aria-label=${label} preserveAspectRatio="none">
    <polyline points=${points.join(" ")} />
  </svg>`;
}
