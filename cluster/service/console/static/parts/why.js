// Why a query has no row over the events of the workbench, with the words of `elsinore why`.
import { html, useEffect, useState } from "../vendor/libraries.js";
import { call } from "../state.js";
import { parse, shown } from "../digits.js";

const MOST_EVENTS = 8;

/** The reasons of one query; asked for `atOnce`, or by a button. */
export function WhyNot({ query, text, events, atOnce }) {
  const [asked, setAsked] = useState(atOnce);
  const [reason, setReason] = useState(null);
  const [refused, setRefused] = useState("");
  useEffect(() => {
    if (!asked) return undefined;
    let over = false;
    call("POST", "/console/why", { workload: text, events, query })
      .then((found) => { if (!over) setReason(parse(found.reason)); })
      .catch((error) => { if (!over) setRefused(error.message); });
    return () => { over = true; };
  }, [asked]);
  return html`<section class="why" aria-label=${`Why ${query} has no row`} aria-live="polite">
    <h3>Why has ${query} no row?</h3>
    ${!asked && html`<button onClick=${() => setAsked(true)}>Explain ${query}</button>`}
    ${refused && html`<p class="bad">${refused}</p>`}
    ${asked && !reason && !refused && html`<p class="pale">Looking for the cause…</p>`}
    ${reason && html`<${Reason} reason=${reason} text=${text} />`}
  </section>`;
}

function Reason({ reason, text }) {
  const { causes, reached, notes } = reason;
  const example = causes.map((cause) => cause.change?.example ?? []).find((some) => some.length > 0);
  return html`
    ${reached && html`<${Reached} reached=${reached} />`}
    <ul class="list">${causes.map((cause) => html`<li>
      <span>${cause.place ? `${position(text, cause.place[0])}: ` : ""}${cause.message}</span>
      ${cause.place && html`<code class="place">${excerpt(text, cause.place)}</code>`}
      ${cause.mend && html`<span class="mend">${cause.mend}</span>`}
    </li>`)}</ul>
    ${causes.length === 0 && html`<p>No change of one or two parts of the query gives a row.</p>`}
    ${example && html`<p>${causes[0].kind === "not" ? "What NOT forbids:" : "The events of such a row:"}</p><${Events} events=${example} />`}
    ${notes.length > 0 && html`<p class="pale">Also: ${notes.join("; ")}.</p>`}`;
}

function Reached({ reached }) {
  if (Number(reached.parts) === 0) return html`<p>It ends at the first part: <code>${reached.next}</code>.</p>`;
  return html`<p>It gets as far as <code>${reached.pattern}</code> (${shown(reached.parts)} of ${shown(reached.of)} parts), for example with</p>
    <${Events} events=${reached.events} />
    <p>and ends there: <code>${reached.next}</code> does not follow.</p>`;
}

function Events({ events }) {
  const line = (event) => Object.entries(event).filter(([, value]) => value !== null).map(([name, value]) => `${name}=${shown(value)}`).join("  ");
  return html`<pre>${events.slice(0, MOST_EVENTS).map(line).join("\n")}${events.length > MOST_EVENTS ? `\nand ${events.length - MOST_EVENTS} more` : ""}</pre>`;
}

/** Line and column of a character that the service counts as one and JavaScript, beyond the first plane, as two. */
function position(text, start) {
  const lines = [...text].slice(0, Number(start)).join("").split("\n");
  return `line ${lines.length}, column ${[...lines.at(-1)].length + 1}`;
}

function excerpt(text, [start, end]) {
  return [...text].slice(Number(start), Number(end)).join("");
}
