// JSON whose numbers keep every digit: those beyond 2^53 would be rounded.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A number as the service wrote it. */
export class Digits {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

/** Parse JSON; every number becomes Digits. */
export function parse(text) {
  const marked = text.replace(TOKEN, (token) => (token[0] === '"' ? token : `{"\\u0000":"${token}"}`));
  return JSON.parse(marked, (_, value) => (value !== null && typeof value === "object" && "\u0000" in value ? new Digits(value["\u0000"]) : value));
}

/** A value of a row as text. */
export function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return written(value);
}

function written(value) {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([name, one]) => `${name}: ${written(one)}`).join(", ")}}`;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
