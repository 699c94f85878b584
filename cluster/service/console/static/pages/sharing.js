// The last bursts of a job: a lane per Kleene sub-pattern, a bar per burst, and the decision about the chosen one.
import { html, useEffect, useRef, useState } from "../vendor/libraries.js";
import { bursts, seconds } from "../state.js";
import { percent, whole } from "../parts/format.js";

const SHOWN = 600;
const LANE = 92, TOP = 22, LEFT = 96, MIN_BAR = 10, MAX_BAR = 44;
const WORDS = { shared: "shared", partly: "partly shared", apart: "apart" };

export function Sharing({ job }) {
  const { taken, apart, last } = bursts.value;
  const [held, setHeld] = useState(null);
  const [chosen, setChosen] = useState(null);
  const shown = (held ?? last).slice(-SHOWN);
  if (shown.length === 0) return html`<${Nothing} job=${job} />`;
  return html`
    <section class="card">
      <div class="heading">
        <p class="big">Events taken in: <strong>${whole(taken)}</strong> instead of <strong>${whole(apart)}</strong>
          <span class="pale"> in the bursts seen here${apart > 0 ? `, ${percent(1 - taken / apart)} saved` : ""}</span></p>
        <button onClick=${() => setHeld(held ? null : last)} aria-pressed=${held ? "true" : "false"}>${held ? "Follow again" : "Hold"}</button>
      </div>
      <p>${Object.entries(WORDS).map(([choice, words]) => html`<span class="key"><i class=${choice}></i>${words}</span>`)}
        <span class="pale">The height of a bar is its events, its place their time. Arrow keys go from burst to burst.</span></p>
      <${Lanes} bursts=${shown} chosen=${chosen} choose=${(burst) => { setHeld(held ?? last); setChosen(burst); }} />
    </section>
    <section class="card" aria-live="polite"><h2>Decision</h2>
      ${chosen ? html`<${Decision} burst=${chosen} />` : html`<p class="pale">Choose a burst: its costs and its queries are shown here.</p>`}
    </section>`;
}

function Nothing({ job }) {
  const why = job.metrics.events === 0 ? "No event yet." : job.metrics.bursts === 0
    ? "No Kleene sub-pattern of this job is one that several queries could share, so there is nothing to decide. Queries that return matches have no bursts either. The plan says why, and what they share."
    : "Waiting for bursts…";
  return html`<p class="empty">${why} <a href=${`#/jobs/${job.id}/plan`}>Plan</a></p>`;
}

/** Bars with their places: those that begin in the same stretch of time are stacked. */
function laidOut(all, width) {
  const lanes = [...new Set(all.map((burst) => `${burst.kleene} in share set ${burst.share_set}`))].sort();
  const times = all.map((burst) => seconds(burst.time));
  const first = Math.min(...times), span = Math.max(...times) - first;
  const slots = Math.max(1, Math.min(Math.floor((width - LEFT - 8) / MIN_BAR), 2 * new Set(times).size));
  const step = (width - LEFT - 8) / slots;
  const heights = new Map();
  const bars = all.map((burst, at) => {
    const lane = lanes.indexOf(`${burst.kleene} in share set ${burst.share_set}`);
    const slot = span > 0 ? Math.min(slots - 1, Math.floor(((times[at] - first) / span) * slots)) : 0;
    const below = heights.get(`${lane} ${slot}`) ?? 0;
    heights.set(`${lane} ${slot}`, below + burst.events);
    return { burst, lane, slot, below };
  });
  return { lanes, bars, step, most: Math.max(1, ...heights.values()), first: all[times.indexOf(first)].time, last: all[times.indexOf(first + span)].time };
}

function Lanes({ bursts: all, chosen, choose }) {
  const place = useRef(null);
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const sized = new ResizeObserver(([entry]) => setWidth(Math.max(280, Math.round(entry.contentRect.width))));
    sized.observe(place.current);
    return () => sized.disconnect();
  }, []);
  const { lanes, bars, step, most, first, last } = laidOut(all, width);
  const height = TOP + lanes.length * LANE + 24;
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = all.indexOf(chosen);
    choose(all[Math.min(all.length - 1, Math.max(0, at < 0 ? all.length - 1 : at + by))]);
  };
  return html`<div ref=${place} tabindex="0" role="application" aria-label=${`${all.length} bursts in ${lanes.length} lanes; arrow keys choose one`} onKeyDown=${move}>
    <svg class="lanes" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} aria-hidden="true">
      ${lanes.map((lane, at) => html`<g key=${lane} transform=${`translate(0 ${TOP + at * LANE})`}>
        <text class="name" x="8" y=${LANE - 34}>${lane.split(" ")[0]}</text><text x="8" y=${LANE - 18}>set ${lane.split(" ").at(-1)}</text>
        <line x1="0" x2=${width} y1=${LANE - 10} y2=${LANE - 10} />
      </g>`)}
      ${bars.map(({ burst, lane, slot, below }) => {
        const tall = Math.max(1, (burst.events / most) * (LANE - 20));
        return html`<rect class=${`${burst.choice}${burst === chosen ? " chosen" : ""}`} x=${LEFT + slot * step} width=${Math.min(MAX_BAR, step - 1)} height=${tall > 4 ? tall - 0.7 : tall}
          y=${TOP + (lane + 1) * LANE - 10 - (below / most) * (LANE - 20) - tall} onClick=${() => choose(burst)} />`;
      })}
      <text x=${LEFT} y=${height - 8}>${first}</text><text x=${width - 8} y=${height - 8} text-anchor="end">${last}</text>
      <text x=${width - 8} y="15" text-anchor="end">highest: ${whole(most)} events</text>
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
