// Numbers, lengths of time and moments as text.
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export const whole = (value) => WHOLE.format(value ?? 0);
export const short = (value) => (value < 10_000 ? WHOLE.format(value) : SHORT.format(value));
export const percent = (value) => `${Math.round((value ?? 0) * 100)} %`;
export const moment = (seconds) => CLOCK.format(new Date(seconds * 1000));

export function length(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
