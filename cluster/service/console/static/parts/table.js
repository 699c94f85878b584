// Rows of queries as a table, with every digit.
import { html, useState } from "../vendor/libraries.js";
import { Digits, shown } from "../digits.js";

/** Rows, the last ones first if `newest`; of one query, or of all. */
export function RowTable({ rows, queries, newest, empty }) {
  const [query, setQuery] = useState("");
  const chosen = query ? rows.filter((row) => row.query === query) : rows;
  const names = [...new Set(chosen.flatMap(Object.keys))];
  const numbers = new Set(names.filter((name) => chosen.some((row) => row[name] instanceof Digits)));
  const side = (name) => (numbers.has(name) ? "number" : "");
  const ordered = newest ? chosen.toReversed() : chosen;
  return html`
    ${queries.length > 1 && html`<div class="row">
      <label for="of-query">Query</label>
      <select id="of-query" value=${query} onChange=${(event) => setQuery(event.target.value)}>
        <option value="">all</option>${queries.map((name) => html`<option key=${name}>${name}</option>`)}
      </select>
    </div>`}
    ${ordered.length === 0
      ? html`<p class="pale">${empty}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Rows"><table>
          <thead><tr>${names.map((name) => html`<th scope="col" class=${side(name)}>${name}</th>`)}</tr></thead>
          <tbody>${ordered.map((row) => html`<tr>${names.map((name) => html`<td class=${side(name)}>${shown(row[name])}</td>`)}</tr>`)}</tbody>
        </table></div>`}`;
}
