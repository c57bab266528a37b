// Replaces the field of a spec by an editor that completes keys and values, marks what does not fit the schema, and describes the
// key at the cursor. The field stays in its form, with the same text. Without this script the field is a plain one.
import {
  EditorView, StyleModule, acceptCompletion, autocompletion, classHighlighter, defaultKeymap, forEachDiagnostic, history, historyKeymap,
  hoverTooltip, keymap, lintKeymap, linter, parser, pickedCompletion, syntaxHighlighting, syntaxTree, yaml,
} from "./codemirror/codemirror.js";
import { complete } from "./spec-completion.js";
import { keyAt, problems } from "./spec-problems.js";
import { Schema } from "./spec-schema.js";

const hint = "Ctrl+Space lists what can be written at the cursor. Escape, then Tab, leaves the editor. F8 leads to the next error.";

// CodeMirror adds its styles as an element, which the policy of the pages refuses, unless the root is like that of a shadow tree.
const root = {
  ownerDocument: document,
  get adoptedStyleSheets() { return document.adoptedStyleSheets; },
  set adoptedStyleSheets(sheets) { document.adoptedStyleSheets = sheets; },
};
const { mount } = StyleModule;
StyleModule.mount = (_, modules) => mount.call(StyleModule, root, modules);

// editSpec replaces a field once it has the schema; while the server cannot be reached, the field stays.
export async function editSpec(field) {
  const answer = await fetch(field.dataset.schema).catch(() => null);
  if (answer?.ok) replace(field, new Schema(await answer.json()));
}

function replace(field, schema) {
  const label = field.labels[0], usage = part("p", { id: field.id + "-usage", className: "muted", textContent: hint }), help = part("p", { className: "key-help muted" });
  label.id = field.id + "-label";
  const hadFocus = document.activeElement === field;
  const view = new EditorView({
    doc: field.value,
    selection: { anchor: field.selectionStart, head: field.selectionEnd },
    extensions: [
      history(), yaml(), syntaxHighlighting(classHighlighter), theme,
      autocompletion({ override: [(context) => completions(schema, context)], icons: false }),
      linter((v) => marks(schema, v.state.doc.toString())),
      hoverTooltip((v, pos) => hovered(schema, v, pos)),
      keymap.of([{ key: "Tab", run: acceptCompletion }, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.domEventHandlers({ beforeinput: typedOver }),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-labelledby": label.id, "aria-describedby": usage.id }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) field.value = update.state.doc.toString();
        if (update.transactions.length > 0) describe(help, schema, update.state);
      }),
    ],
  });
  field.hidden = true;
  field.after(view.dom, usage, help);
  label.addEventListener("click", () => view.focus());
  describe(help, schema, view.state);
  if (hadFocus) view.focus();
  for (const link of document.querySelectorAll("a[data-line]")) link.addEventListener("click", (e) => leadTo(view, link, e));
}

function marks(schema, text) { return problems(schema, parser.parse(text), text).map((p) => ({ ...p, severity: "error" })); }

// leadTo selects the line of a problem that the server found.
function leadTo(view, link, e) {
  e.preventDefault();
  const { doc } = view.state, line = doc.line(Math.min(Math.max(1, Number(link.dataset.line)), doc.lines));
  view.dispatch({ selection: { anchor: line.from, head: line.to }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
  view.focus();
}

// typedOver writes what replaces a selection. The browser would give it the style of what was there, as an attribute, which the
// policy of the pages refuses.
function typedOver(e, view) {
  if (e.inputType !== "insertText" || e.data === null || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(e.data), { scrollIntoView: true, userEvent: "input.type" });
  return true;
}

// completions opens the list while a name is written, and when it is asked for, but not for a name that is complete.
function completions(schema, { state, pos, explicit }) {
  const text = state.doc.toString();
  if (!explicit && !/\w$/.test(state.sliceDoc(0, pos))) return null;
  const { from, options } = complete(schema, text, pos);
  if (options.length === 0 || !explicit && isWritten(text, options[0])) return null;
  return { from, filter: false, options: options.map((o) => ({ label: o.label, detail: o.type, info: o.description && (() => part("p", { textContent: o.description })), apply: (view, option) => take(view, option, o.changes) })) };
}

function isWritten(text, { changes: [change] }) { return change.insert === text.slice(change.from, change.to); }

function take(view, option, changes) {
  const set = view.state.changes(changes), { to } = changes.at(-1);
  view.dispatch({ changes: set, selection: { anchor: set.mapPos(to, 1) }, scrollIntoView: true, userEvent: "input.complete", annotations: pickedCompletion.of(option) });
}

function hovered(schema, view, pos) {
  const key = keyAt(schema, syntaxTree(view.state), view.state.doc.toString(), pos);
  return key && { pos, above: true, create: () => ({ dom: written(part("p", { className: "key-help" }), key) }) };
}

// describe writes under the editor what is wrong at the cursor, or what the key there is for.
function describe(help, schema, state) {
  const { head } = state.selection.main, wrong = [];
  forEachDiagnostic(state, (d, from, to) => { if (from <= head && head <= to) wrong.push(d.message); });
  const key = keyAt(schema, syntaxTree(state), state.doc.toString(), head);
  help.replaceChildren(...wrong.map((message) => part("strong", { textContent: message + " " })));
  if (key) written(help, key);
}

function written(to, { name, type, default: value, description }) {
  to.append(part("b", { textContent: name }), `: ${type}${value ? `, ${value} by default` : ""}. ${description}`);
  return to;
}

function part(tag, properties) { return Object.assign(document.createElement(tag), properties); }

const theme = EditorView.theme({
  "&": { background: "var(--surface)", color: "var(--text)", border: "1px solid light-dark(#8b96a3, #5d6b7a)", borderRadius: "6px", fontSize: ".85rem", maxHeight: "40rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.45" },
  ".cm-content": { padding: ".6rem 0", minHeight: "10rem", caretColor: "var(--text)" },
  ".cm-tooltip": { background: "var(--surface)", color: "var(--text)", border: "1px solid var(--accent)", borderRadius: "6px", maxWidth: "min(34rem, 95vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(34rem, 95vw)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-bg)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)" },
  ".cm-tooltip .cm-completionInfo": { padding: ".5rem" },
  ".cm-diagnostic, .cm-tooltip .key-help": { padding: ".4rem .6rem" },
  ".cm-panels": { background: "var(--raised)", color: "var(--text)" },
});
