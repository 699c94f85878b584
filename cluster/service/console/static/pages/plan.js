// The plan of a job: text, pictures and queries. Pointing at a part of one marks what the others say of it.
import { html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/libraries.js";
import { call } from "../state.js";

const NOTHING = { queries: [], types: [] };
const WORD = /[\p{L}_][\p{L}\p{N}_]*/gu;
const NO_TYPES = new Set(["SEQ", "OR", "AND", "NOT"]);
const marked = signal(NOTHING);

export function Plan({ job }) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    marked.value = NOTHING;
    Promise.all([call("GET", `/console/jobs/${job.id}/plan`), call("GET", `/v1/workloads/${job.id}`)]).then(
      ([plan, document]) => setFound({ ...plan, workload: document.workload }), (error) => setProblem(error.message));
  }, [job.id, job.queries.join()]);
  const words = useMemo(() => vocabulary(job.queries, found?.workload ?? ""), [found]);
  if (problem) return html`<p class="notice bad">${problem}</p>`;
  if (!found) return html`<p class="pale">Planning…</p>`;
  return html`<p class="pale">Point at a part, or go to it with Tab: what belongs to it is marked in text, picture and query.</p>
    <div class="plan">
      <section class="card"><h2>Plan</h2><${Tree} text=${found.plan} words=${words} /></section>
      <div>
        <section class="card"><h2>Pictures</h2>${found.pictures.map((svg) => html`<${Picture} key=${svg} svg=${svg} words=${words} />`)}</section>
        <section class="card"><h2>Queries</h2>${parts(found.workload).map((text) => html`<${Marking} key=${text} text=${text} words=${words}><pre class="query">${text}</pre></${Marking}>`)}</section>
      </div>
    </div>`;
}

/** The names that identify parts of a plan: its queries, and the types and variables of their patterns. */
function vocabulary(queries, workload) {
  const patterns = workload.matchAll(/\bPATTERN\b([\s\S]*?)(?=\b(?:WHERE|GROUP-BY|WITHIN|SEMANTICS|RETURN|QUERY|LIMIT|SLIDE)\b|$)/gi);
  const types = [...patterns].flatMap(([, pattern]) => pattern.match(WORD) ?? []).filter((word) => !NO_TYPES.has(word.toUpperCase()));
  return { queries: new Set(queries), types: new Set(types) };
}

function named(text, words) {
  const found = new Set(text.match(WORD) ?? []);
  return { queries: [...found].filter((word) => words.queries.has(word)), types: [...found].filter((word) => words.types.has(word)) };
}

const meets = (one, other) => one.some((word) => other.includes(word));

/** Whether a part belongs to what is marked: where both name queries or types, some are the same. */
function belongs(part, mark) {
  const queries = meets(part.queries, mark.queries), types = meets(part.types, mark.types);
  const differ = (own, others, met) => own.length > 0 && others.length > 0 && !met;
  return (queries || types) && !differ(part.queries, mark.queries, queries) && !differ(part.types, mark.types, types);
}

const pointing = (part) => ({
  onPointerEnter: () => { marked.value = part; }, onPointerLeave: () => { marked.value = NOTHING; },
  onFocus: () => { marked.value = part; }, onBlur: () => { marked.value = NOTHING; },
});

function Marking({ text, words, children }) {
  const part = useMemo(() => named(text, words), [text, words]);
  return html`<div tabindex="0" class=${belongs(part, marked.value) ? "marked" : ""} ...${pointing(part)}>${children}</div>`;
}

function Node({ text, words, head }) {
  const part = useMemo(() => named(text, words), [text, words]);
  const classes = ["node", head && "head", belongs(part, marked.value) && "marked"].filter(Boolean).join(" ");
  return html`<span tabindex="0" class=${classes} ...${pointing(part)}>${text}</span>`;
}

function Tree({ text, words }) {
  const heads = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const child = line.match(/^[├└]─ (.*)$/u);
    if (child && heads.length) heads.at(-1).nodes.push(child[1]);
    else heads.push({ text: line, nodes: [] });
  }
  return html`<ul class="tree">${heads.map((head) => html`<li key=${head.text}>
    <${Node} text=${head.text} words=${words} head=${true} />
    ${head.nodes.length > 0 && html`<ul>${head.nodes.map((node) => html`<li key=${node}><${Node} text=${node} words=${words} /></li>`)}</ul>`}
  </li>`)}</ul>`;
}

/** A picture of the plan; its elements are marked by the names in their texts and tooltips. */
function Picture({ svg, words }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
    const parsed = [...drawn.querySelectorAll("text, g:has(> title)")].map((element) => [element, named(element.textContent, words)]);
    for (const [element, part] of parsed) {
      element.addEventListener("pointerenter", () => { marked.value = part; });
      element.addEventListener("pointerleave", () => { marked.value = NOTHING; });
    }
    place.current.replaceChildren(drawn);
    return marked.subscribe((mark) => {
      for (const [element, part] of parsed) element.classList.toggle("marked", belongs(part, mark));
    });
  }, [svg, words]);
  return html`<div class="picture" ref=${place} role="img" aria-label="Picture of the plan" tabindex="0"></div>`;
}

/** The text of each query of a workload, with the comments above it. */
function parts(workload) {
  const found = [""];
  for (const line of workload.split(/\n|(?<=;)/)) {
    const begins = /^\s*(?:QUERY\b|--)/i.test(line) && /\bRETURN\b/i.test(found.at(-1));
    if (begins || /;\s*$/.test(found.at(-1))) found.push("");
    found[found.length - 1] += `${line}\n`;
  }
  return found.map((text) => text.trim()).filter(Boolean);
}
