// Charts over time, in the colours of the page.
import { html, uPlot, useEffect, useRef } from "../vendor/libraries.js";

const HEIGHT = 200;
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** A chart; `series` are names and the variables of their colours, `data` the columns, the first one seconds. */
export function Chart({ series, data, label }) {
  const place = useRef(null);
  const chart = useRef(null);
  const now = useRef(data);
  now.current = data;
  useEffect(() => {
    const element = place.current;
    const draw = () => {
      chart.current?.destroy();
      chart.current = new uPlot(options(element, series), now.current, element);
    };
    draw();
    const sized = new ResizeObserver(() => chart.current.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    DARK.addEventListener("change", draw);
    return () => {
      sized.disconnect();
      DARK.removeEventListener("change", draw);
      chart.current.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(data), [data]);
  return html`<div class="chart" ref=${place} role="img" aria-label=${label}></div>`;
}

function options(element, series) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--pale"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
  return {
    width: element.clientWidth, height: HEIGHT, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: true } },
    axes: [axis, { ...axis, size: 74, values: (_, values) => values.map((value) => value.toLocaleString("en", { maximumFractionDigits: 2 })) }],
    series: [{ label: "clock" }, ...series.map(([name, variable, dash]) => ({ label: name, stroke: colour(variable), width: 2, dash, points: { show: false } }))],
  };
}
