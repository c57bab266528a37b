// Reads the tree of a YAML parser: which key a node is of, and what is written there.

// textOf returns what a scalar says, without its quotes.
export function textOf(node, text) {
  const raw = text.slice(node.from, node.to);
  if (raw[0] === "'") return raw.slice(1, -1).replaceAll("''", "'");
  if (raw[0] !== '"') return raw;
  try { return JSON.parse(raw); } catch { return raw.slice(1, -1); }
}

export function keyOf(pair, text) {
  const key = pair.getChild("Key")?.firstChild;
  return key ? textOf(key, text) : "";
}

// pathOf returns the keys that a node is in, null for an item of a list. A collection that is a key, which no spec has, is read as
// a value: the parser makes keys of those that have no end.
export function pathOf(node, text) {
  const path = [];
  for (let n = node; n; n = n.parent) {
    if (n.name === "Key" && n.firstChild?.name.startsWith("Flow")) n = n.parent.parent;
    if (n.name === "Pair") path.unshift(keyOf(n, text));
    if (n.name === "Item") path.unshift(null);
  }
  return path;
}

export function countErrors(tree) {
  let n = 0;
  tree.iterate({ enter: (node) => { if (node.type.isError) n++; } });
  return n;
}
