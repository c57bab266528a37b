import assert from "node:assert/strict";
import { test } from "node:test";

import { readability, syllablesOf, textOf } from "../readability.js";

test("text has no menus and no scripts", () => {
  const page = `<!doctype html><html lang="en"><head><title> A
    page </title><style>p {}</style></head><body><nav>Home</nav><p>One <b>two</b>.<p>Three &amp; four<script>var x = "<p>"</script>
    <footer>2026</footer>`;
  assert.deepEqual(textOf(page), { text: "One two.\nThree & four", title: "A page", language: "en" });
});

test("foreign markup does no harm", () => {
  for (const page of ["", "<", "</p></nav></nav>x", "<b>".repeat(1_000_000), "<b ".repeat(1_000_000), "<script>".repeat(100_000), "&".repeat(1_000_000), "\0\uffff<p"]) {
    assert.equal(typeof textOf(page).text, "string");
  }
});

test("counts", () => {
  assert.deepEqual(readability("The cat sat. It isn't here!"), { words: 6, sentences: 2, syllables: 6, reading_ease: 119.2 });
  assert.deepEqual(readability("Version 3.2 of it"), { words: 5, sentences: 1, syllables: 6, reading_ease: 100.2 });
  assert.deepEqual(readability(" \n"), { words: 0, sentences: 0, syllables: 0, reading_ease: null });
});

test("syllables", () => {
  const want = { cat: 1, river: 2, simple: 1, bridge: 1, façade: 2, rhythm: 1, "2026": 1, municipality: 6 };
  for (const [word, n] of Object.entries(want)) assert.equal(syllablesOf(word), n, word);
});
