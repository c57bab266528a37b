import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync, brotliCompressSync } from "node:zlib";

import { bodyOf, deadHeaders, decodePage, isHTML, Poison, recordId, recordSubject, textOfBody } from "../wire.js";

const page = { v: 1, crawl: "default", url: "https://example.org/", visit: "2d8e29b18198d1bac40a1033653a78e4.1", fetched_at: "2026-11-20T10:00:00.25Z", body_size: 5 };

test("a page is checked", () => {
  assert.equal(decodePage(JSON.stringify(page)).url, page.url);
  for (const bad of ["", "[", "null", "1", JSON.stringify({ ...page, v: 2 }), JSON.stringify({ ...page, visit: "" })]) {
    assert.throws(() => decodePage(bad), Poison, bad);
  }
});

test("bodies in every encoding", () => {
  const hello = Buffer.from("hello");
  // "hello" as written by the zstd command, in one raw block.
  const zstd = Buffer.from("28b52ffd200529000068656c6c6f", "hex");
  const cases = [
    [{}, hello], [{ body_encoding: "zstd" }, zstd], [{ body_encoding: "gzip" }, gzipSync(hello)],
    [{ body_encoding: "gzip, br" }, brotliCompressSync(gzipSync(hello))],
    [{ request_size: 3, head_size: 2 }, Buffer.from("reqhehello")],
    [{ request_size: 3, head_size: 2, body_object: "x", body_encoding: "zstd" }, zstd],
  ];
  for (const [more, payload] of cases) {
    assert.equal(Buffer.from(bodyOf({ ...page, ...more }, payload)).toString(), "hello", JSON.stringify(more));
  }
  for (const [more, payload] of [[{ body_encoding: "zstd" }, hello], [{ body_encoding: "lzma" }, hello], [{ body_size: 2 ** 40 }, hello], [{ body_size: "x" }, hello]]) {
    assert.throws(() => bodyOf({ ...page, ...more }, payload), Poison, JSON.stringify(more));
  }
});

test("charset", () => {
  const text = (content_type, bytes) => textOfBody({ content_type }, Buffer.from(bytes, "latin1"));
  assert.equal(text("text/html; charset=iso-8859-1", "caf\xe9"), "café");
  assert.equal(text("text/html", '<meta charset="windows-1251">\xcf'), '<meta charset="windows-1251">П');
  assert.equal(text("text/html; charset=nonsense", "caf\xc3\xa9"), "café");
  assert.equal(textOfBody({}, Buffer.from("é")), "é");
});

test("what is HTML", () => {
  for (const [type, want] of [["text/html", true], ["Text/HTML; charset=x", true], ["application/xhtml+xml", true], ["text/plain", false], ["text/htmlx", false], [undefined, false]]) {
    assert.equal(isHTML({ content_type: type }), want, type);
  }
});

test("names", () => {
  assert.equal(recordSubject("seine.pages.my-crawl.7"), "seine.records.my-crawl.7");
  assert.equal(recordSubject("seine.chained.my-crawl.7"), "seine.records.my-crawl.7");
  assert.equal(recordId(page, "readability"), "default.2d8e29b18198d1bac40a1033653a78e4.1.readability");
  const dead = deadHeaders("readability", { stream: "PAGES", sequence: 9, subject: "seine.pages.a.0", tries: 5 }, "bad\nthing", new Date(0));
  assert.equal(dead["Nats-Msg-Id"], "readability.PAGES.9.0");
  assert.equal(dead["Seine-Dead-Reason"], "bad thing");
  assert.equal(dead["Seine-Dead-Time"], "1970-01-01T00:00:00.000Z");
});
