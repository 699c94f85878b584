// What the pages share: whether the browser is logged in, all jobs, the rows and bursts of the job that is shown, and the route.
import { batch, signal } from "./vendor/libraries.js";
import { parse } from "./digits.js";

const KEPT_RATES = 120;
const KEPT_ROWS = 300;
const KEPT_BURSTS = 600;
const KEPT_TIMES = 600;
const RETRY_MILLISECONDS = 2000;

/** "unknown", "in" or "out". */
export const session = signal("unknown");
/** "live" while updates come, "away" while the service does not answer, "" before the first one. */
export const link = signal("");
/** All jobs by their ids; null before the first update. */
export const jobs = signal(null);
export const rows = signal([]);
export const skipped = signal(false);
const NO_WORK = { taken: 0, apart: 0, stored: 0, stored_apart: 0 };
export const bursts = signal({ work: NO_WORK, last: [] });
/** Of the job that is shown: seconds of this clock, latest time and watermark. */
export const times = signal([]);
export const route = signal(routeOf(location.hash));

addEventListener("hashchange", () => { route.value = routeOf(location.hash); });

function routeOf(hash) {
  const [page, job, tab] = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  return page === "jobs" && job ? { page: "job", job, tab: tab || "rows" } : { page: page || "jobs" };
}

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the service replied ${status}`);
    this.status = status;
    this.problems = problem.problems ?? [];
  }
}

/** Call the service, and return the JSON of its reply; raise Refused, or a TypeError where it does not answer. */
export async function call(method, path, body, headers = {}) {
  const sent = { method, headers: { ...headers } };
  if (body !== undefined) {
    sent.body = JSON.stringify(body);
    sent.headers["Content-Type"] = "application/json";
  }
  const reply = await fetch(path, sent);
  if (reply.ok) {
    return reply.status === 204 ? null : reply.headers.get("Content-Type").startsWith("text/") ? reply.text() : reply.json();
  }
  if (reply.status === 401) leave();
  throw new Refused(reply.status, await reply.json().catch(() => ({})));
}

/** A key with which a call that is repeated by itself has one effect. */
export function onceKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { "Idempotency-Key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

export async function begin() {
  try {
    await call("GET", "/console/login");
    enter();
  } catch (error) {
    if (!(error instanceof Refused)) setTimeout(begin, RETRY_MILLISECONDS);
    else if (error.status !== 401) setTimeout(begin, RETRY_MILLISECONDS);
  }
}

export async function logIn(token) {
  await call("POST", "/console/login", undefined, { Authorization: `Bearer ${token}` });
  enter();
}

export async function logOut() {
  await call("DELETE", "/console/login");
  leave();
}

function enter() {
  session.value = "in";
  open();
}

function leave() {
  session.value = "out";
  close();
}

let wanted = { job: null, show: null };
let source = null;
let last = "";
let retry = 0;

/** Ask for the rows or bursts of a job besides the state of all jobs. */
export function follow(job, show) {
  if (wanted.job === job && wanted.show === show) return;
  batch(() => {
    if (wanted.job !== job) times.value = [];
    rows.value = [];
    skipped.value = false;
    bursts.value = { work: NO_WORK, last: [] };
  });
  wanted = { job, show };
  last = "";
  if (session.value === "in") open();
}

function close() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function open() {
  close();
  if (document.hidden) return;
  const asked = new URLSearchParams();
  if (wanted.show) { asked.set("job", wanted.job); asked.set("show", wanted.show); }
  if (last) asked.set("last", last);
  source = new EventSource(`/console/updates?${asked}`);
  for (const [kind, take] of Object.entries(TAKE)) {
    source.addEventListener(kind, (event) => {
      last = event.lastEventId;
      link.value = "live";
      take(event.data);
    });
  }
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    link.value = "away";
    retry = setTimeout(() => call("GET", "/console/login").then(open, open), RETRY_MILLISECONDS);
  };
}

// A hidden page holds no connection; it continues where it was.
document.addEventListener("visibilitychange", () => {
  if (session.value === "in") document.hidden ? close() : open();
});

const TAKE = {
  jobs(data) {
    const told = JSON.parse(data);
    const found = new Map(told.all ? [] : jobs.value);
    for (const name of told.gone) found.delete(name);
    for (const job of told.jobs) {
      const rates = job.rates ?? [...(found.get(job.id)?.rates ?? []), job.events_rate].slice(-KEPT_RATES);
      found.set(job.id, { ...job, rates });
    }
    batch(() => {
      jobs.value = new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
      noteTimes(found.get(route.value.job));
    });
  },
  rows(data) {
    const told = parse(data);
    batch(() => {
      rows.value = [...rows.value, ...told.rows].slice(-KEPT_ROWS);
      skipped.value ||= told.skipped;
    });
  },
  bursts(data) {
    const { work, bursts: more } = JSON.parse(data);
    bursts.value = { work, last: [...bursts.value.last, ...more].slice(-KEPT_BURSTS) };
  },
};

function noteTimes(job) {
  if (!job) return;
  const { latest, watermark } = job.metrics;
  if (latest === null || watermark === null) return;
  times.value = [...times.value, [Date.now() / 1000, seconds(latest), seconds(watermark)]].slice(-KEPT_TIMES);
}

/** A time of events as a number, for a chart. */
export function seconds(time) {
  return typeof time === "number" ? time : Date.parse(time.includes("+") || time.endsWith("Z") ? time : `${time}Z`) / 1000;
}
