// The last bursts of a job: a lane per Kleene sub-pattern, a bar per burst, and the decision about the chosen one.
// Of queries that return matches: a lane per node of their plan whose matches are stored, a bar per batch.
import { html, useEffect, useRef, useState } from "../vendor/libraries.js";
import { bursts, seconds } from "../state.js";
import { percent, whole } from "../parts/format.js";

const SHOWN = 600;
const LANE = 92, TOP = 22, LEFT = 96, MIN_BAR = 10, MAX_BAR = 44;
const WORDS = { shared: "shared", partly: "partly shared", apart: "apart" };

/** How a burst of events is drawn, and a batch's matches of a node that are stored. */
const BURSTS = {
  one: "burst", many: "bursts", unit: "events", left: LEFT, above: 0,
  lane: (burst) => `${burst.kleene} in share set ${burst.share_set}`,
  label: (lane) => [lane.split(" ")[0], `set ${lane.split(" ").at(-1)}`],
  size: (burst) => burst.events,
  choice: (burst) => burst.choice,
};
const FILLINGS = {
  one: "batch", many: "batches", unit: "matches", left: 8, above: 18,
  lane: (filling) => filling.node,
  label: (lane) => [lane],
  size: (filling) => filling.matches,
  choice: (filling) => (filling.queries.length > 1 ? "shared" : "apart"),
};

export function Sharing({ job }) {
  const { work, last } = bursts.value;
  const [held, setHeld] = useState(null);
  const [chosen, setChosen] = useState(null);
  const shown = (held ?? last).slice(-SHOWN);
  if (shown.length === 0) return html`<${Nothing} job=${job} />`;
  const ofEvents = shown.filter((burst) => burst.kleene), ofMatches = shown.filter((burst) => burst.node);
  const hold = html`<button onClick=${() => setHeld(held ? null : last)} aria-pressed=${held ? "true" : "false"}>${held ? "Follow again" : "Hold"}</button>`;
  const choose = (burst) => { setHeld(held ?? last); setChosen(burst); };
  return html`
    ${ofEvents.length > 0 && html`<${Bars} what="Events taken in" some=${work.taken} more=${work.apart} seen="in the bursts seen here" hold=${hold}
      drawn=${BURSTS} bursts=${ofEvents} words=${WORDS} chosen=${chosen} choose=${choose} />`}
    ${ofMatches.length > 0 && html`<${Bars} what="Matches stored" some=${work.stored} more=${work.stored_apart} seen="if each query stored its own" hold=${hold}
      drawn=${FILLINGS} bursts=${ofMatches} words=${{ shared: "for several queries", apart: "for one" }} chosen=${chosen} choose=${choose} />`}
    <section class="card" aria-live="polite"><h2>Decision</h2>
      ${chosen === null ? html`<p class="pale">Choose a bar: its costs and its queries are shown here.</p>` :
        chosen.node ? html`<${Filling} filling=${chosen} />` : html`<${Decision} burst=${chosen} />`}
    </section>`;
}

function Bars({ what, some, more, seen, hold, drawn, bursts: all, words, chosen, choose }) {
  return html`
    <section class="card">
      <div class="heading">
        <p class="big">${what}: <strong>${whole(some)}</strong> instead of <strong>${whole(more)}</strong>
          <span class="pale"> ${seen}${more > 0 ? `, ${percent(1 - some / more)} saved` : ""}</span></p>
        ${hold}
      </div>
      <p>${Object.entries(words).map(([choice, text]) => html`<span class="key"><i class=${choice}></i>${text}</span>`)}
        <span class="pale">The height of a bar is its ${drawn.unit}, its place their time. Arrow keys go from ${drawn.one} to ${drawn.one}.</span></p>
      <${Lanes} drawn=${drawn} bursts=${all} chosen=${chosen} choose=${choose} />
    </section>`;
}

function Nothing({ job }) {
  const why = job.metrics.events === 0 ? "No event yet." : job.metrics.bursts === 0
    ? "No Kleene sub-pattern of this job is one that several queries could share, and no matches of a part of a pattern are stored, so there is nothing to decide. The plan says why."
    : "Waiting for bursts…";
  return html`<p class="empty">${why} <a href=${`#/jobs/${job.id}/plan`}>Plan</a></p>`;
}

/** Bars with their places: those that begin in the same stretch of time are stacked. */
function laidOut(drawn, all, width) {
  const lanes = [...new Set(all.map(drawn.lane))].sort();
  const times = all.map((burst) => seconds(burst.time));
  const first = Math.min(...times), span = Math.max(...times) - first;
  const slots = Math.max(1, Math.min(Math.floor((width - drawn.left - 8) / MIN_BAR), 2 * new Set(times).size));
  const step = (width - drawn.left - 8) / slots;
  const heights = new Map();
  const bars = all.map((burst, at) => {
    const lane = lanes.indexOf(drawn.lane(burst));
    const slot = span > 0 ? Math.min(slots - 1, Math.floor(((times[at] - first) / span) * slots)) : 0;
    const below = heights.get(`${lane} ${slot}`) ?? 0;
    heights.set(`${lane} ${slot}`, below + drawn.size(burst));
    return { burst, lane, slot, below };
  });
  return { lanes, bars, step, most: Math.max(1, ...heights.values()), first: all[times.indexOf(first)].time, last: all[times.indexOf(first + span)].time };
}

function Lanes({ drawn, bursts: all, chosen, choose }) {
  const place = useRef(null);
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const sized = new ResizeObserver(([entry]) => setWidth(Math.max(280, Math.round(entry.contentRect.width))));
    sized.observe(place.current);
    return () => sized.disconnect();
  }, []);
  const { lanes, bars, step, most, first, last } = laidOut(drawn, all, width);
  const room = LANE - 20 - drawn.above;
  const height = TOP + lanes.length * LANE + 24;
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = all.indexOf(chosen);
    choose(all[Math.min(all.length - 1, Math.max(0, at < 0 ? all.length - 1 : at + by))]);
  };
  return html`<div ref=${place} tabindex="0" role="application" aria-label=${`${all.length} ${drawn.many} in ${lanes.length} lanes; arrow keys choose one`} onKeyDown=${move}>
    <svg class="lanes" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} aria-hidden="true">
      ${lanes.map((lane, at) => html`<g key=${lane} transform=${`translate(0 ${TOP + at * LANE})`}>
        ${drawn.label(lane).map((line, row) => html`<text class=${row === 0 ? "name" : ""} x="8" y=${drawn.above > 0 ? drawn.above - 4 : LANE - 34 + 16 * row}>${line}</text>`)}
        <line x1="0" x2=${width} y1=${LANE - 10} y2=${LANE - 10} />
      </g>`)}
      ${bars.map(({ burst, lane, slot, below }) => {
        const tall = Math.max(1, (drawn.size(burst) / most) * room);
        return html`<rect class=${`${drawn.choice(burst)}${burst === chosen ? " chosen" : ""}`} x=${drawn.left + slot * step} width=${Math.min(MAX_BAR, step - 1)} height=${tall > 4 ? tall - 0.7 : tall}
          y=${TOP + (lane + 1) * LANE - 10 - (below / most) * room - tall} onClick=${() => choose(burst)} />`;
      })}
      <text x=${drawn.left} y=${height - 8}>${first}</text><text x=${width - 8} y=${height - 8} text-anchor="end">${last}</text>
      <text x=${width - 8} y="15" text-anchor="end">highest: ${whole(most)} ${drawn.unit}</text>
    </svg>
  </div>`;
}

const cost = (value) => (value === null ? "not asked" : value.toLocaleString("en", { maximumSignificantDigits: 4 }));

function Decision({ burst }) {
  const cheaper = burst.cost_shared === null || burst.cost_apart === null ? "" :
    burst.cost_shared <= burst.cost_apart ? "Sharing was expected to cost less." : "Apart was expected to cost less.";
  const change = { merge: "The burst before it ran apart: here queries merged.", split: "The burst before it was shared: here queries split." }[burst.change] ?? "";
  const facts = {
    burst: `${whole(burst.events)} ${burst.events === 1 ? "event" : "events"} of ${burst.kleene} at ${burst.time}`, choice: WORDS[burst.choice],
    "cost shared": cost(burst.cost_shared), "cost apart": cost(burst.cost_apart), "events in its window": whole(burst.events_in_window),
    "snapshots created": whole(burst.snapshots_created), "snapshots propagated": whole(burst.snapshots_propagated),
  };
  return html`
    <dl class="facts">${Object.entries(facts).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <p>${cheaper} ${change}</p>
    <ul class="list">
      <li><strong>shared</strong> <span class="mono">${burst.shared.join(", ") || "none"}</span></li>
      <li><strong>apart</strong> <span class="mono">${burst.apart.join(", ") || "none"}</span></li>
    </ul>`;
}

function Filling({ filling }) {
  const facts = {
    node: filling.node, "matches in this batch": whole(filling.matches), "expected in a window": cost(filling.expected),
    batch: `${whole(filling.events)} ${filling.events === 1 ? "event" : "events"} from ${filling.time}`,
  };
  const why = filling.queries.length > 1 ? "Found and kept once for all of these queries." :
    "Kept although one query alone needs it: that was expected to cost less than searching it again for each match.";
  return html`
    <dl class="facts">${Object.entries(facts).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <p>${why}</p>
    <ul class="list"><li><strong>queries</strong> <span class="mono">${filling.queries.join(", ")}</span></li></ul>`;
}
