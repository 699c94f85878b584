// The editor for workloads. It is in a shadow root, whose style sheets need no exception from the security policy.
import {
  EditorState, EditorView, HighlightStyle, StreamLanguage, defaultKeymap, drawSelection, history, historyKeymap, keymap, lineNumbers,
  lintGutter, linter, lintKeymap, setDiagnostics, syntaxHighlighting, tags,
} from "../vendor/editor.js";


const KEYWORD = /^(?:QUERY|RETURN|MATCHES|PATTERN|WHERE|GROUP-BY|WITHIN|SLIDE|SEMANTICS|SEQ|OR|AND|NOT|AS|LIMIT|EVENTS|COUNT|SUM|AVG|MIN|MAX|FIRST|LAST|NEXT|skip-till-any-match|skip-till-next-match|contiguous)\b/i;

const language = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^--.*/)) return "comment";
    if (stream.match(KEYWORD)) return "keyword";
    if (stream.match(/^'(?:[^']|'')*'?|^"[^"]*"?/)) return "string";
    if (stream.match(/^\d+(?:\.\d+)?/)) return "number";
    if (!stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) stream.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.string, color: "var(--good)" }, { tag: tags.number, color: "var(--warn)" }, { tag: tags.comment, color: "var(--pale)" },
]);

const underlined = (colour) => ({ backgroundImage: "none", textDecoration: `underline wavy ${colour}`, textUnderlineOffset: "3px" });
const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "13.5px", minHeight: "240px", maxHeight: "60vh" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", overflow: "auto" }, ".cm-content": { caretColor: "var(--ink)", minHeight: "230px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" }, "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark) !important" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--pale)", borderRight: "1px solid var(--line)" },
  ".cm-lintRange-error": underlined("var(--bad)"), ".cm-lint-marker-error": { content: "none", backgroundColor: "var(--bad)", borderRadius: "50%", width: "8px", height: "8px" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line)" }, ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

/** Make an editor in an element; it calls `changed` with each new text. */
export function makeEditor(place, text, changed) {
  const root = place.attachShadow({ mode: "open" });
  const parent = root.appendChild(document.createElement("div"));
  const view = new EditorView({
    root, parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), lintGutter(), linter(null), language, syntaxHighlighting(colours), theme, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Workload", spellcheck: "false" }),
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(update.state.doc.toString()); }),
      ],
    }),
  });
  return {
    underline: (problems) => view.dispatch(setDiagnostics(view.state, problems.map((problem) => diagnostic(problem, view.state.doc.toString())))),
    end: () => view.destroy(),
  };
}

function diagnostic({ start, end, message, hint }, text) {
  const from = offset(text, start ?? 0), to = Math.max(from, offset(text, end ?? text.length));
  return { from, to, severity: "error", message: hint ? `${message}\n${hint}` : message };
}

/** The place of a character that the service counts as one and JavaScript, beyond the first plane, as two. */
function offset(text, count) {
  return [...text].slice(0, count).join("").length;
}
