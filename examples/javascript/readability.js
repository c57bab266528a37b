// Extracts the text of a page and measures its readability. It does not use NATS.

import { Tokenizer } from "htmlparser2";

// Elements whose text is not visible, and elements that end a sentence.
const SKIPPED = new Set(["script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "svg", "title"]);
const BLOCKS = new Set(["p", "div", "li", "ul", "ol", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr", "table", "blockquote", "pre", "section", "article", "main", "br", "hr"]);

/**
 * Returns the text of a page without menus and scripts, a line for each block, and its title and language. The time is
 * linear in the size of any page, because a tokenizer builds no tree.
 */
export function textOf(html) {
  const scan = new Scan(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, scan);
  tokenizer.write(html);
  tokenizer.end();
  const lines = scan.text.split("\n").map(fold).filter(Boolean);
  return { text: lines.join("\n"), title: fold(scan.title), language: scan.language };
}

const fold = (text) => text.replace(/\s+/g, " ").trim();
const ignore = () => {};

// Scan handles the events of a tokenizer, which give the start and end of tags, attributes and text.
class Scan {
  text = "";
  title = "";
  language = "";
  #html;
  #tag = "";
  #attribute = "";
  #skipped = 0; // open elements whose text is not visible

  constructor(html) { this.#html = html; }

  onopentagname(start, end) {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    if (SKIPPED.has(this.#tag)) this.#skipped++;
    if (BLOCKS.has(this.#tag)) this.text += "\n";
  }
  onclosetag(start, end) {
    this.#tag = "";
    const name = this.#html.slice(start, end).toLowerCase();
    if (SKIPPED.has(name)) this.#skipped = Math.max(0, this.#skipped - 1);
    if (BLOCKS.has(name)) this.text += "\n";
  }
  onattribname(start, end) { this.#attribute = this.#html.slice(start, end).toLowerCase(); }
  onattribdata(start, end) {
    if (this.#tag === "html" && this.#attribute === "lang") this.language += this.#html.slice(start, end);
  }
  ontext(start, end) { this.#add(this.#html.slice(start, end)); }
  ontextentity(codepoint) { this.#add(String.fromCodePoint(codepoint)); }
  #add(data) {
    if (this.#tag === "title") this.title += data;
    if (this.#skipped === 0) this.text += data;
  }

  onattribentity = ignore;
  onattribend = ignore;
  oncdata = ignore;
  oncomment = ignore;
  ondeclaration = ignore;
  onend = ignore;
  onopentagend = ignore;
  onprocessinginstruction = ignore;
  onselfclosingtag = ignore;
}

/**
 * Returns counts and Flesch's reading ease of English text (Flesch 1948): 206.835 - 1.015 words per sentence - 84.6 syllables
 * per word. 90 is easy, 30 is hard; null without a word.
 */
export function readability(text) {
  const words = text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  const sentences = text.split(/[.!?…]+(?=\s|$)|\n/).filter((s) => /\p{L}/u.test(s)).length;
  const syllables = words.reduce((sum, word) => sum + syllablesOf(word), 0);
  const ease = words.length && sentences
    ? 206.835 - 1.015 * (words.length / sentences) - 84.6 * (syllables / words.length)
    : null;
  return { words: words.length, sentences, syllables, reading_ease: ease === null ? null : Math.round(ease * 10) / 10 };
}

/** Estimates the syllables of an English word: groups of vowels, without a silent final e. */
export function syllablesOf(word) {
  const plain = word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/([^aeiouy])e$/, "$1");
  return Math.max(1, plain.match(/[aeiouy]+/g)?.length ?? 0);
}
