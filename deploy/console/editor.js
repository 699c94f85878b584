// What the workbench imports from vendor/editor.js, when it is opened.
export { EditorState } from "@codemirror/state";
export { EditorView, drawSelection, keymap, lineNumbers, placeholder } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { linter, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
export { tags } from "@lezer/highlight";
