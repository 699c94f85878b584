// An editor for workloads, with all problems as one types, rows over a few events, and submit.
import { html, useEffect, useRef, useState } from "../vendor/libraries.js";
import { call, onceKey } from "../state.js";
import { RowTable } from "../parts/table.js";
import { WhyNot } from "../parts/why.js";
import { parse } from "../digits.js";

const WAIT_MILLISECONDS = 300;
const WORKLOAD = `QUERY gave_up
RETURN COUNT(*)
PATTERN SEQ(Request R, Travel T+, Cancel C)
WITHIN 10 minutes SLIDE 10 minutes;

QUERY arrived
RETURN COUNT(*), SUM(T.speed)
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WITHIN 10 minutes SLIDE 10 minutes
`;
const EVENTS = `{"type": "Request", "time": 0}
{"type": "Travel", "time": 60, "speed": 31}
{"type": "Travel", "time": 120, "speed": 28}
{"type": "Cancel", "time": 180}
{"type": "Dropoff", "time": 240}
`;
const STRATEGIES = ["auto", "hamlet", "hamlet-static", "gloria", "cogra", "trivial", "share", "mpt"];
const kept = (name, first) => localStorage.getItem(`elsinore-${name}`) ?? first;
const keep = (name, text) => localStorage.setItem(`elsinore-${name}`, text);

export function Page() {
  const [text, setText] = useState(() => kept("workload", WORKLOAD));
  const [events, setEvents] = useState(() => kept("events", EVENTS));
  const [found, setFound] = useState({ problems: [], plan: "" });
  const [answer, setAnswer] = useState(null);
  const [refused, setRefused] = useState("");
  const [busy, setBusy] = useState(false);
  const asked = useRef(0);

  useEffect(() => {
    keep("workload", text);
    keep("events", events);
    const number = ++asked.current;
    const tell = (told) => { if (number === asked.current) told(); };
    const timer = setTimeout(async () => {
      setBusy(true);
      setRefused("");
      try {
        const checked = await call("POST", "/console/check", { workload: text });
        tell(() => setFound(checked));
        const runs = checked.problems.length === 0 && events.trim() && number === asked.current;
        const answered = runs ? await call("POST", "/console/try", { workload: text, events }) : null;
        tell(() => setAnswer(answered && { ...answered, number, text, events }));
      } catch (error) {
        tell(() => { setAnswer(null); setRefused(error.message); });
      }
      tell(() => setBusy(false));
    }, WAIT_MILLISECONDS);
    return () => { clearTimeout(timer); };
  }, [text, events]);

  const load = async (event) => {
    const [file] = event.target.files;
    if (file) setEvents(await file.text());
  };
  return html`
    <div class="heading"><h1>Workbench</h1><span class="pale" role="status">${busy ? "checking and running…" : found.problems.length ? `${found.problems.length} ${found.problems.length === 1 ? "problem" : "problems"}` : refused ? "the events cannot be used" : "no problems"}</span></div>
    <div class="grid">
      <section class="card"><h2 id="workload">Workload</h2>
        <${Editor} text=${text} problems=${found.problems} changed=${setText} />
        <${Problems} problems=${found.problems} text=${text} />
        <${Submit} text=${text} blocked=${found.problems.length > 0} />
      </section>
      <section class="card"><h2><label for="events">Events</label></h2>
        <textarea id="events" rows="12" spellcheck=${false} value=${events} onInput=${(event) => setEvents(event.target.value)}></textarea>
        <div class="row"><label class="button" for="file">Open a file</label><input id="file" class="hidden" type="file" accept=".jsonl,.csv,.txt" onChange=${load} />
          <span class="pale">JSON lines, or CSV with a header; up to 10,000 events</span></div>
      </section>
      <section class="card wide"><h2>Rows</h2>
        ${refused && html`<pre role="alert" class="bad">${refused}</pre>`}
        ${answer && html`<${Answer} answer=${answer} />`}
        ${!answer && !refused && html`<p class="pale">${found.problems.length ? "Rows come when the workload has no problems." : busy ? "Running…" : "Rows come when there are events."}</p>`}
      </section>
      <section class="card wide"><h2>Plan</h2><pre tabindex="0">${found.plan}</pre></section>
    </div>`;
}

function Editor({ text, problems, changed }) {
  const place = useRef(null);
  const editor = useRef(null);
  useEffect(() => {
    let over = false;
    import("../parts/editor.js").then(({ makeEditor }) => {
      if (!over) editor.current = makeEditor(place.current, text, changed);
    });
    return () => { over = true; editor.current?.end(); };
  }, []);
  useEffect(() => editor.current?.underline(problems), [problems]);
  return html`<div class="editor" ref=${place}></div>`;
}

function Problems({ problems, text }) {
  if (!problems.length) return null;
  return html`<ul class="list problems" aria-label="Problems">${problems.map((problem) => html`<li>
    <span>${problem.line ? `line ${problem.line}, column ${problem.column}: ` : ""}${problem.message}</span>
    ${problem.hint && html`<span class="pale">${problem.hint}</span>`}
  </li>`)}</ul>`;
}

function Answer({ answer }) {
  const rows = answer.rows.map(parse);
  const { counters } = answer;
  const counted = ["events", "late", "dead", "dropped"].filter((name) => name === "events" || counters[name]).map((name) => `${counters[name].toLocaleString("en")} ${name}`);
  const none = Object.entries(answer.queries).filter(([, count]) => count === 0).map(([name]) => name);
  return html`
    <p class="pale">${counted.join(", ")}; ${counters.rows.toLocaleString("en")} rows${counters.rows > rows.length ? `, the first ${rows.length} of them` : ""}${none.length ? `; no row of ${none.join(", ")}` : ""}</p>
    ${answer.dead.length > 0 && html`<pre>${answer.dead.join("\n")}</pre>`}
    <${RowTable} rows=${rows} queries=${Object.keys(answer.queries)} empty="No query has a row over these events." />
    ${none.map((query, place) => html`<${WhyNot} key=${`${answer.number} ${query}`} query=${query} text=${answer.text} events=${answer.events} atOnce=${place === 0} />`)}`;
}

function Submit({ text, blocked }) {
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const body = { workload: text, strategy: form.get("strategy"), lateness: form.get("lateness") || "0" };
    if (form.get("name")) body.name = form.get("name");
    try {
      const job = await call("POST", "/v1/workloads", body, onceKey());
      location.hash = `#/jobs/${job.id}`;
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<form onSubmit=${submit}>
    <div class="row">
      <label for="name">Name</label><input id="name" name="name" pattern="[a-z0-9\\-]{1,64}" title="lower-case letters, digits and hyphens" size="10" placeholder="generated" />
      <label for="strategy">Strategy</label><select id="strategy" name="strategy">${STRATEGIES.map((name) => html`<option key=${name}>${name}</option>`)}</select>
      <label for="lateness">Lateness, s</label><input id="lateness" name="lateness" inputmode="decimal" size="5" placeholder="0" />
      <button class="first" disabled=${blocked}>Submit</button>
    </div>
    ${problem && html`<pre role="alert" class="bad">${problem}</pre>`}
  </form>`;
}
