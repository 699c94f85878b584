import { html, useState } from "../vendor/libraries.js";
import { logIn } from "../state.js";

export function LogIn() {
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const token = new FormData(event.target).get("token").trim();
    try {
      await logIn(token);
    } catch (error) {
      setProblem(/^[\x20-\x7e]*$/.test(token) ? error.message : "a token has printable ASCII characters only");
    }
  };
  return html`<main class="login">
    <h1>Elsinore</h1>
    <form onSubmit=${submit}>
      <input type="text" name="username" autocomplete="username" value="elsinore" readonly hidden />
      <label for="token">Token of the service</label>
      <input id="token" name="token" type="password" autocomplete="current-password" required autofocus
        aria-describedby="where problem" aria-invalid=${problem ? "true" : undefined} />
      <p id="problem" role="alert" class="bad">${problem}</p>
      <button class="first">Log in</button>
      <p id="where" class="pale">
        A service on this machine keeps its token in <code>~/.local/state/elsinore</code>, and shows it on the terminal when it first starts.
        Elsewhere it is what <code>ELSINORE_SERVICE_TOKEN</code> holds.
      </p>
    </form>
  </main>`;
}
