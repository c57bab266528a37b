// Finds what is wrong with a spec by its schema, and what a key in it is for.
import { keyOf, pathOf, textOf } from "./spec-tree.js";

// problems returns { from, to, message } for each part of a text that does not fit the schema.
export function problems(schema, tree, text) {
  const found = [];
  const add = (node, message) => found.push({ from: node.from, to: node.to, message });
  tree.iterate({ enter: (n) => { if (n.type.isError) add(n, "Neither YAML nor JSON."); } });
  for (const document of tree.topNode.getChildren("Document")) check(schema, valueOf(document), schema.root, text, add);
  return found;
}

// valueOf returns the value that a node has; null for none, and for an alias, whose value is elsewhere.
function valueOf(node) {
  const value = ["BlockMapping", "FlowMapping", "BlockSequence", "FlowSequence", "Literal", "QuotedLiteral", "BlockLiteral"].flatMap((name) => node.getChildren(name)).at(-1);
  const inner = node.getChild("Anchored") ?? node.getChild("Tagged");
  return value ?? (inner && valueOf(inner));
}

function check(schema, node, s, text, add) {
  if (!node) return;
  if (node.name.endsWith("Mapping")) checkObject(schema, node, s, text, add);
  else if (node.name.endsWith("Sequence")) checkList(schema, node, s, text, add);
  else if (!schema.forms(s).some((f) => fits(f, node, text))) add(node, "Must be " + allOf(schema, s) + ".");
}

// allOf is the name of a type, with all values of a closed set.
function allOf(schema, s) {
  const { all, texts } = schema.values(s);
  return texts && schema.forms(s).length === 1 ? all.join(", ") : schema.typeName(s);
}

function checkObject(schema, node, s, text, add) {
  const object = schema.object(s);
  if (!object) {
    if (!schema.isAny(s)) add(node, "Must be " + schema.typeName(s) + ".");
    return;
  }
  const names = new Set();
  for (const pair of node.getChildren("Pair")) {
    const name = keyOf(pair, text), of = schema.below(s, name);
    names.add(name);
    if (of) check(schema, valueOf(pair), of, text, add);
    else if (name !== "<<") add(pair.getChild("Key") ?? pair, `There is no key ${name} here.`);
  }
  const missing = (object.required ?? []).filter((name) => !names.has(name));
  if (missing.length > 0 && !names.has("<<")) add(node, "Without " + missing.join(", ") + ".");
}

function checkList(schema, node, s, text, add) {
  const items = schema.items(s);
  if (items) for (const item of node.getChildren("Item")) check(schema, valueOf(item), items, text, add);
  else if (!schema.isAny(s)) add(node, "Must be " + schema.typeName(s) + ".");
}

// fits reports whether a scalar is one of a form of the schema.
function fits(form, node, text) {
  const value = textOf(node, text), type = typeOf(node, value);
  if (type === "null" || (!form.type && !form.enum)) return true;
  if (form.enum) return form.enum.includes(value) && type === "string";
  const types = [form.type].flat();
  if (!types.includes(type) && !(type === "integer" && types.includes("number"))) return false;
  return type !== "string" || !form.pattern || new RegExp(form.pattern).test(value);
}

// typeOf returns the type that YAML gives a scalar.
function typeOf(node, value) {
  if (node.name !== "Literal") return "string";
  if (/^(~|null|Null|NULL)$/.test(value)) return "null";
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(value)) return "boolean";
  if (/^([-+]?\d+|0o[0-7]+|0x[\da-f]+)$/i.test(value)) return "integer";
  return /^[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/i.test(value) ? "number" : "string";
}

// keyAt describes the key that a position is in, null for none.
export function keyAt(schema, tree, text, pos) {
  const start = text.lastIndexOf("\n", pos - 1) + 1, before = text.slice(start, pos).trimEnd();
  const node = before.trim() ? tree.resolveInner(start + before.length, -1) : tree.resolveInner(pos, 1);
  const path = pathOf(node, text);
  while (path?.at(-1) === null) path.pop();
  return path?.length > 0 ? schema.about(path) : null;
}
