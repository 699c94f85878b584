// The console: one page, whose part after # says what it shows.
import { html, render, signal, useEffect } from "./vendor/libraries.js";
import { begin, follow, route, session } from "./state.js";
import { Shell } from "./parts/shell.js";
import { Jobs } from "./pages/jobs.js";
import { LogIn } from "./pages/login.js";

/** Pages that are loaded when they are first shown. */
const loaded = signal({});
const LATER = {
  job: () => import("./pages/job.js"),
  workbench: () => import("./pages/workbench.js"),
};

function Page() {
  const { page } = route.value;
  useEffect(() => {
    if (LATER[page] && !loaded.value[page]) LATER[page]().then((found) => { loaded.value = { ...loaded.value, [page]: found.Page }; });
    if (page !== "job") follow(null, null);
  }, [page]);
  if (!LATER[page]) return html`<${Jobs} />`;
  const Later = loaded.value[page];
  return Later ? html`<${Later} key=${route.value.job} />` : html`<p class="pale">Loading…</p>`;
}

function App() {
  if (session.value === "unknown") return html`<header class="bar"><span class="brand">Elsinore</span></header>`;
  return session.value === "out" ? html`<${LogIn} />` : html`<${Shell}><${Page} /></${Shell}>`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
begin();
