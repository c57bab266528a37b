// What the JSON schema of specs says: which keys and values a part of a spec may have, and how they are called.
const words = { string: "text", integer: "whole number", number: "number", boolean: "true or false", object: "keys with values" };
const maxNamed = 4; // values that the name of a type lists

export class Schema {
  constructor(root) { this.root = root; }

  // forms returns the alternatives that a schema allows, without references.
  forms(s) {
    if (!s) return [];
    if (s.$ref) return this.forms({ ...this.root.$defs[s.$ref.slice("#/$defs/".length)], ...s, $ref: undefined });
    return s.anyOf ? s.anyOf.flatMap((f) => this.forms(f)) : [s];
  }

  object(s) { return this.forms(s).find((f) => f.properties || f.additionalProperties); }
  items(s) { return this.forms(s).find((f) => f.items)?.items; }

  // below returns the schema of a key of an object, or of an item of a list if the step is null.
  below(s, step) {
    if (step === null) return this.items(s);
    const o = this.object(s);
    return o && Object.hasOwn(o.properties ?? {}, step) ? o.properties[step] : o?.additionalProperties || undefined;
  }

  at(path) { return path.reduce((s, step) => s && this.below(s, step), this.root); }

  // values returns the closed set that a value is from, and whether it consists of texts.
  values(s) {
    for (const f of this.forms(s)) {
      if (f.enum) return { all: f.enum, texts: true };
      if (f.type === "boolean") return { all: ["true", "false"], texts: false };
    }
    return { all: [], texts: false };
  }

  // isScalar reports whether a value can be written in its line.
  isScalar(s) { return this.forms(s).some((f) => !f.items && !f.properties && !f.additionalProperties); }

  // isAny reports whether a schema allows every value.
  isAny(s) { return this.forms(s).some((f) => !f.type && !f.enum); }

  typeName(s) { return this.forms(s).map((f) => this.formName(f)).join(", or "); }

  formName(f) {
    if (f.items) return "list of " + this.typeName(f.items);
    if (f.enum) return f.enum.slice(0, maxNamed).join(", ") + (f.enum.length > maxNamed ? ", …" : "");
    if (f.examples) return "text such as " + f.examples.join(", ");
    return [f.type ?? []].flat().map((t) => words[t]).join(" or ") || "anything";
  }

  // about describes the key at a path: its name, its type, its default, and what it is for. It is null for an unknown key.
  about(path) {
    const s = this.at(path);
    if (!s) return null;
    const name = path.map((step) => step === null ? "[]" : "." + step).join("").replace(/^\./, "");
    return { name, type: this.typeName(s), default: "default" in s ? JSON.stringify(s.default) : "", description: s.description ?? "" };
  }
}
