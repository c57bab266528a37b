// Reads WARC files with warcio.js, checks the digests of every record, and prints
// what it found as JSON: the records with the digest of their decoded content, and
// the CDXJ index that warcio.js makes of each file.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { CDXIndexer, WARCParser } from "warcio";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function base32(bytes) {
  let out = "", bits = 0, value = 0;
  for (const b of bytes) {
    value = (value << 8) | b;
    for (bits += 8; bits >= 5; bits -= 5) out += alphabet[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return out;
}

const sha1 = (bytes) => "sha1:" + base32(createHash("sha1").update(bytes).digest());
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

function mustBe(what, got, want) {
  if (got !== want) throw new Error(`${what} is ${got}, not ${want}`);
}

// blocks checks the digest of each block, as it is in the file.
async function blocks(file) {
  let n = 0;
  for await (const r of new WARCParser(createReadStream(file), { parseHttp: false })) {
    const block = await r.readFully(false);
    mustBe(`block digest of record ${n}`, sha1(block), r.warcBlockDigest);
    mustBe(`length of record ${n}`, block.length, r.warcContentLength);
    n++;
  }
  return n;
}

// records checks the digest of each payload, and decodes it.
async function records(file) {
  const found = [];
  for await (const r of new WARCParser(createReadStream(file))) {
    const payload = await r.readFully(false);
    if (r.warcPayloadDigest && r.warcType !== "revisit") {
      mustBe(`payload digest of ${r.warcTargetURI}`, sha1(payload), r.warcPayloadDigest);
    }
    const content = await r.readFully(true);
    found.push({
      type: r.warcType, url: r.warcTargetURI ?? "", date: r.warcDate, status: r.httpHeaders?.statusCode || 0,
      content: sha256(content ?? new Uint8Array()), payload: r.warcPayloadDigest ?? "",
      refersTo: r.warcRefersToTargetURI ?? "", refersToDate: r.warcRefersToDate ?? "",
    });
  }
  return found;
}

async function index(file) {
  const lines = [];
  const indexer = new CDXIndexer({ format: "cdxj" });
  for await (const entry of indexer.iterIndex([{ filename: basename(file), reader: createReadStream(file) }])) {
    lines.push(indexer.serialize(entry));
  }
  return lines;
}

const out = [];
for (const file of process.argv.slice(2)) {
  const count = await blocks(file);
  const all = await records(file);
  mustBe("number of records", all.length, count);
  out.push({ file, records: all, index: await index(file) });
}
process.stdout.write(JSON.stringify(out));
