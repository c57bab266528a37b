// What the editor of specs uses of CodeMirror. scripts/editor bundles it.
export { acceptCompletion, autocompletion, pickedCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { yaml } from "@codemirror/lang-yaml";
export { syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { forEachDiagnostic, linter, lintKeymap } from "@codemirror/lint";
export { EditorView, hoverTooltip, keymap } from "@codemirror/view";
export { classHighlighter } from "@lezer/highlight";
export { parser } from "@lezer/yaml";
export { StyleModule } from "style-mod";
