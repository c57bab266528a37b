// Finds what can be written at a place of a spec that is not complete. It puts a placeholder in the place of the word there, in
// several ways (as a key, as a value, behind a comma that is missing), parses each text, and keeps those with the fewest errors.
import { parser } from "./codemirror/codemirror.js";
import { countErrors, keyOf, pathOf } from "./spec-tree.js";

// complete returns { from, options } for a position in a text: from is where the word there begins, and an option has a label,
// a type, a description, and the changes that write it. Options that begin with the word come first.
export function complete(schema, text, pos) {
  const word = wordAt(text, pos);
  const { options, isSure } = candidates(schema, text, word);
  if (options.length > 0 || isSure) return { from: word.from, options };
  const { parents, shift } = parentsOf(text, pos); // without what is broken elsewhere
  const moved = candidates(schema, parents, wordAt(parents, pos - shift)).options;
  for (const o of moved) o.changes = o.changes.map((c) => ({ from: c.from + shift, to: c.to + shift, insert: c.insert }));
  return { from: word.from, options: moved };
}

// wordAt returns the word at a position, with its quotes, and what surrounds it in its line.
function wordAt(text, pos) {
  const start = text.lastIndexOf("\n", pos - 1) + 1;
  const [, before, quote, begun] = /^(.*?)(["']?)([\w.]*)$/.exec(text.slice(start, pos));
  const [rest] = /^[\w.]*/.exec(text.slice(pos));
  const to = pos + rest.length + (quote && text[pos + rest.length] === quote ? 1 : 0);
  return {
    from: start + before.length, to, start, before, quote, begun: begun.toLowerCase(),
    hasColon: (quote ? /^\s*:/ : /^\s*:(\s|$)/).test(text.slice(to)),
    space: /(:|^\s*(-\s+)*-)$/.test(before) ? " " : "",
  };
}

// parentsOf returns the line at a position, and before it only the lines that are less indented than what follows them.
function parentsOf(text, pos) {
  const start = text.lastIndexOf("\n", pos - 1) + 1;
  const lines = text.slice(0, start).split("\n").slice(0, -1), kept = [];
  let indent = indentOf(text.slice(start));
  for (const line of lines.reverse()) {
    if (line.trim() === "" || indentOf(line) >= indent) continue;
    kept.unshift(line + "\n");
    indent = indentOf(line);
  }
  const above = kept.join("");
  return { parents: above + text.slice(start).split("\n", 1)[0], shift: start - above.length };
}

function indentOf(line) { return /^\s*/.exec(line)[0].length; }

// candidates also returns whether the place was found in a text without errors.
function candidates(schema, text, word) {
  const found = new Map(), { places, errors } = placesIn(text, word);
  for (const place of places) {
    const s = schema.at(place.path);
    for (const o of place.pair ? keys(schema, s, word, place) : values(schema, s, word, place)) if (!found.has(o.label)) found.set(o.label, o);
  }
  const all = [...found.values()].filter((o) => o.label.toLowerCase().includes(word.begun));
  const begins = (o) => o.label.toLowerCase().startsWith(word.begun);
  const options = [...all.filter(begins), ...all.filter((o) => !begins(o))].map((o) => ({ ...o, changes: changes(text, word, o) }));
  return { options, isSure: errors === 0 };
}

// placesIn returns the readings of a text with the fewest errors: the path of what is written, its pair if that is a key, and what
// is missing before it. A comma is missing only where there is no reading without it that has no errors.
function placesIn(text, word) {
  const leads = [""];
  if (word.before.trim() === "") leads.push("- ");
  if (!/[:,[{]\s*$/.test(text.slice(0, word.from))) leads.push(", ");
  const tails = word.hasColon || /:\s*$/.test(word.before) ? [""] : ["", ": ", ": 0, "];
  const written = word.quote + "x" + word.quote, read = [];
  let errors = Infinity;
  for (const lead of leads) for (const tail of tails) {
    if (errors === 0 && (lead + tail).includes(",")) continue;
    const from = word.from + word.space.length + lead.length;
    const tried = text.slice(0, word.from) + word.space + lead + written + tail + text.slice(word.to);
    const tree = parser.parse(tried), node = tree.resolveInner(from, 1);
    if (node.from !== from || node.to !== from + written.length) continue; // it is part of another text
    read.push({ errors: countErrors(tree), lead, ...placeOf(node, tried) });
    errors = Math.min(errors, read.at(-1).errors);
  }
  return { places: read.filter((p) => p.errors === errors), errors };
}

function placeOf(node, text) {
  const pair = node.parent?.name === "Key" ? node.parent.parent : null;
  const within = pair ? pair.parent : node;
  const path = pathOf(within, text);
  const others = pair ? within.getChildren("Pair").filter((p) => p.from !== pair.from).map((p) => keyOf(p, text)) : [];
  let flow = false;
  for (let n = node.parent; n; n = n.parent) flow ||= n.name.startsWith("Flow");
  return { path, pair, others, flow, json: flow && /^\s*[{[]\s*(["}\]]|x?$)/.test(text) };
}

function keys(schema, s, word, place) {
  const named = Object.entries(schema.object(s)?.properties ?? {}).filter(([name]) => !place.others.includes(name));
  return named.map(([label, of]) => ({
    label, type: schema.typeName(of), description: of.description ?? "", lead: place.lead,
    insert: quoted(label, word, place) + (word.hasColon ? "" : ":" + afterColon(schema, of, word, place)),
  }));
}

// afterColon is what a value begins with: lines of its own unless it can be written in one.
function afterColon(schema, s, word, place) {
  if (place.flow || schema.isScalar(s)) return " ";
  const column = word.from - word.start + word.space.length + place.lead.length;
  return "\n" + " ".repeat(column + 2) + (schema.items(s) ? "- " : "");
}

function values(schema, s, word, place) {
  const { all, texts } = schema.values(s);
  return all.map((label) => ({ label, type: "", description: "", lead: place.lead, insert: texts ? scalar(label, word, place) : label }));
}

function quoted(name, word, place) {
  const quote = word.quote || (place.json ? '"' : "");
  return quote + name + quote;
}

// scalar is a text with quotes if YAML reads it as something else without them.
function scalar(value, word, place) {
  const plain = /^[a-z]\w*$/i.test(value) && !/^(true|false|null)$/i.test(value);
  return quoted(value, plain || word.quote ? word : { quote: '"' }, place);
}

// changes write an option: a comma that is missing stands behind what is before it.
function changes(text, word, { lead, insert }) {
  const end = text.slice(0, word.from).trimEnd().length;
  if (lead !== ", ") return [{ from: word.from, to: word.to, insert: word.space + lead + insert }];
  if (end === word.from) return [{ from: end, to: word.to, insert: ", " + insert }];
  return [{ from: end, to: end, insert: "," }, { from: word.from, to: word.to, insert }];
}
