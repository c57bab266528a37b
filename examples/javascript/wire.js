// The part of docs/reference/wire.md that this stage needs: decoding of PAGES and encoding of RECORDS, without NATS.

import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { decompress as unzstd } from "fzstd";

/** The version of the wire that this stage reads. */
export const VERSION = 1;

/** An input that no retry can handle: it goes to DEAD at once. */
export class Poison extends Error {}

/** Returns the validated header Seine-Page of a message. */
export function decodePage(header) {
  let page;
  try {
    page = JSON.parse(header);
  } catch (cause) {
    throw new Poison("decode page: the header Seine-Page is missing or not JSON", { cause });
  }
  if (page?.v !== VERSION) throw new Poison(`decode page: v is ${page?.v}, this stage reads ${VERSION}`);
  for (const field of ["crawl", "url", "visit", "fetched_at"]) {
    if (typeof page[field] !== "string" || page[field] === "") throw new Poison(`decode page: ${field} is missing`);
  }
  return page;
}

// MAX_BODY is the limit of a decoded body in bytes: four times the default limit of a crawl.
const MAX_BODY = 128 << 20;

const decoders = {
  zstd: (body, size) => unzstd(body, new Uint8Array(size)),
  gzip: (body) => gunzipSync(body, { maxOutputLength: MAX_BODY }),
  deflate: (body) => inflateSync(body, { maxOutputLength: MAX_BODY }),
  br: (body) => brotliDecompressSync(body, { maxOutputLength: MAX_BODY }),
};

/** Decodes the body of a page. The payload comes from the message, or from the object that the page names. */
export function bodyOf(page, payload) {
  // An archived page begins with the request and the head of the response; an object contains only the body.
  let body = page.body_object ? payload : payload.subarray((page.request_size ?? 0) + (page.head_size ?? 0));
  if (!(page.body_size <= MAX_BODY)) throw new Poison(`the body has ${page.body_size} bytes: at most ${MAX_BODY}`);
  const codings = page.body_encoding ? page.body_encoding.split(", ") : [];
  try {
    for (const coding of codings.reverse()) body = decoders[coding](body, page.body_size);
  } catch (cause) {
    throw new Poison(`decode body: ${page.body_encoding}: ${cause.message}`, { cause });
  }
  return body;
}

/** Decodes an HTML body with the charset of the header or of a meta element, else UTF-8. */
export function textOfBody(page, body) {
  const start = Buffer.from(body.subarray(0, 1024)).toString("latin1");
  const label = /charset\s*=\s*["']?([\w.:-]+)/i.exec(page.content_type ?? "")?.[1] ?? /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
  try {
    return new TextDecoder(label ?? "utf-8").decode(body);
  } catch {
    return new TextDecoder().decode(body); // an unknown label
  }
}

/** Reports whether a page is HTML. */
export const isHTML = (page) => /^(text\/html|application\/xhtml\+xml)\b/i.test(page.content_type ?? "");

/** Returns the subject of a record: the subject of its page, in another stream, with the same crawl and partition. */
export const recordSubject = (pageSubject) => pageSubject.replace(/^seine\.(pages|chained)\./, "seine.records.");

/** Returns the Nats-Msg-Id of the record of a page: unique to the record, and the same if the page is read again. */
export const recordId = (page, kind) => `${page.crawl}.${page.visit}.${kind}`;

/** Returns the headers of a dead letter, without those of the message itself. */
export function deadHeaders(stage, message, reason, now) {
  const clean = [...reason].map((c) => (c < " " || c === "\x7f" ? " " : c)).join("");
  return {
    "Nats-Msg-Id": `${stage}.${message.stream}.${message.sequence}.0`,
    "Seine-Dead-Reason": clean.slice(0, 500),
    "Seine-Dead-Stage": stage,
    "Seine-Dead-Subject": message.subject,
    "Seine-Dead-Stream": message.stream,
    "Seine-Dead-Sequence": String(message.sequence),
    "Seine-Dead-Tries": String(message.tries),
    "Seine-Dead-Time": now.toISOString(),
  };
}
