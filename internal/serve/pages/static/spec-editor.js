// Completes the spec that somebody writes into a text field, and tells what the key at the cursor is for. The server knows
// what may stand where. The list opens while a name is written, and by Ctrl+Space; without this script the field is a plain one.
const typing = 80, resting = 250; // ms without a key before the server is asked
const nameBefore = /[\p{L}\p{N}_]$/u;

export function editSpecs() {
  for (const field of document.querySelectorAll("textarea[data-completion]")) new SpecEditor(field);
}

class SpecEditor {
  constructor(field) {
    this.field = field;
    this.list = part("ul", { id: field.id + "-list", className: "candidates", role: "listbox", ariaLabel: "What may be written here", tabIndex: 0, hidden: true }); // it may scroll
    this.help = part("p", { id: field.id + "-help", className: "key-help muted" });
    this.count = part("p", { className: "hide", role: "status" });
    (field.closest("label") ?? field).after(this.list, this.help, this.count);
    this.told(null);
    for (const [name, value] of [["aria-autocomplete", "list"], ["aria-haspopup", "listbox"], ["aria-controls", this.list.id], ["aria-describedby", this.help.id]]) field.setAttribute(name, value);
    field.addEventListener("keydown", (e) => this.pressed(e));
    field.addEventListener("input", (e) => this.written(e));
    field.addEventListener("blur", () => this.close());
    document.addEventListener("selectionchange", () => this.moved());
    this.list.addEventListener("mousedown", (e) => e.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (e) => this.take(e.target.closest("[role=option]")));
  }

  get isOpen() { return !this.list.hidden; }
  get active() { return this.list.querySelector("[aria-selected=true]"); }

  pressed(e) {
    if (e.isComposing || e.altKey || e.metaKey) return;
    if (e.ctrlKey) {
      if (e.code !== "Space") return;
      this.ask(0, true);
    } else if (!this.isOpen) {
      return;
    } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      this.choose(e.key === "ArrowDown" ? 1 : -1);
    } else if (e.key === "Enter" || e.key === "Tab" && !e.shiftKey) {
      this.take(this.active);
    } else if (e.key === "Escape") {
      this.close();
    } else {
      return;
    }
    e.preventDefault();
  }

  written(e) {
    const begun = nameBefore.test(this.field.value.slice(0, this.field.selectionStart));
    if (begun && !e.isComposing && (this.isOpen || e.inputType === "insertText")) this.ask(typing, true);
    else this.close();
  }

  // moved tells about the key at the cursor once it rests. A list is of another place then.
  moved() {
    if (document.activeElement !== this.field || this.at === this.place()) return;
    if (this.isOpen && this.text === this.field.value) this.close();
    if (!this.isOpen && !this.opening) this.ask(resting, false);
  }

  place() { return this.field.selectionStart + " " + this.field.value.length; }

  // ask has the server asked after some time without another question, and the list opened if that is wanted.
  ask(after, open) {
    clearTimeout(this.timer);
    this.request?.abort();
    this.at = this.place();
    this.opening = open;
    this.timer = setTimeout(() => this.send(open), after);
  }

  async send(open) {
    const { value: text, selectionStart: end } = this.field;
    const lines = text.slice(0, end).split("\n");
    const { signal } = this.request = new AbortController();
    try {
      const answer = await fetch(this.field.dataset.completion, {
        method: "POST", headers: { "Content-Type": "application/json" }, signal,
        body: JSON.stringify({ text, line: lines.length, column: [...lines.at(-1)].length + 1 }),
      });
      if (answer.ok) this.answered(await answer.json(), text, end, open);
      else this.close();
    } catch {
      if (!signal.aborted) this.close(); // the server is away: it is a plain field meanwhile
    }
  }

  answered(answer, text, end, open) {
    if (this.field.value !== text || this.field.selectionStart !== end) return;
    this.opening = false;
    this.told(answer.key);
    if (!open || document.activeElement !== this.field) return;
    const start = text.slice(0, end).lastIndexOf("\n") + 1;
    const line = [...text.slice(start).split("\n", 1)[0]];
    const units = (n) => start + line.slice(0, n - 1).join("").length;
    this.range = [units(answer.from), units(answer.to)];
    this.text = text;
    const written = text.slice(...this.range);
    if (answer.candidates.length === 0 || answer.candidates[0].insert === written) this.close();
    else this.show(answer.candidates);
  }

  show(candidates) {
    this.list.replaceChildren(...candidates.map(({ name, insert, type, about }, i) => {
      const option = part("li", { id: this.list.id + "-" + i, role: "option", ariaSelected: "false" });
      option.dataset.insert = insert;
      option.append(part("b", { textContent: name }), " ", part("span", { className: "muted", textContent: [type, about].filter(Boolean).join(" · ") }));
      return option;
    }));
    this.list.hidden = false;
    this.list.scrollTop = 0;
    this.count.textContent = candidates.length === 1 ? "1 candidate" : candidates.length + " candidates";
    this.choose(1);
    this.uncover();
  }

  // uncover scrolls the page where the list would be over the line that is written.
  uncover() {
    const { field } = this, lines = field.value.split("\n").length, line = field.value.slice(0, field.selectionStart).split("\n").length;
    const below = field.getBoundingClientRect().top - field.scrollTop + (line + 1) * field.scrollHeight / lines;
    const hidden = Math.min(below, field.getBoundingClientRect().bottom) - this.list.getBoundingClientRect().top;
    if (hidden > 0) scrollBy(0, hidden);
  }

  // choose goes on by so many, round the ends.
  choose(by) {
    const all = [...this.list.children], was = this.active;
    const next = all.at((all.indexOf(was) + by + (was || by > 0 ? 0 : 1)) % all.length);
    was?.setAttribute("aria-selected", "false");
    next.setAttribute("aria-selected", "true");
    next.scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", next.id);
  }

  take(option) {
    if (!option) return;
    const { field } = this;
    this.close();
    field.setSelectionRange(...this.range);
    // It can be undone; browsers without it write all the same.
    if (!document.execCommand("insertText", false, option.dataset.insert)) field.setRangeText(option.dataset.insert, ...this.range, "end");
    this.ask(resting, false);
  }

  close() {
    clearTimeout(this.timer);
    this.opening = false;
    this.list.hidden = true;
    this.count.textContent = "";
    this.field.removeAttribute("aria-activedescendant");
  }

  // told writes what a key is for under the field.
  told(key) {
    if (!key) {
      this.help.textContent = "Ctrl+Space lists what may be written at the cursor.";
      return;
    }
    const { path, type, about, default: value } = key;
    this.help.replaceChildren(part("b", { textContent: path }), `: ${type}${value ? `, ${value} by default` : ""}. ${about ?? ""}`);
  }
}

function part(tag, properties) { return Object.assign(document.createElement(tag), properties); }
