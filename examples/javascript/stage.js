// A stage of Seine in JavaScript. It reads PAGES in parallel with Seine's parser, with a separate consumer, and adds a
// record to RECORDS for each HTML page: its readability. The writers store it like any other record.
//
// Like every stage it has no state to lose: it acknowledges a page after its record is stored. After a crash it reads the
// page again, and the record has the same Nats-Msg-Id. It does not report the end of a visit: the parser does.

import { readFileSync } from "node:fs";
import { join as path } from "node:path";
import { parseArgs } from "node:util";

import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, headers, nanos } from "@nats-io/transport-node";

import { readability, textOf } from "./readability.js";
import { bodyOf, deadHeaders, decodePage, isHTML, Poison, recordId, recordSubject, textOfBody, VERSION } from "./wire.js";

const STAGE = "readability"; // its durable consumer, its kind of record, and the sender of its dead letters
const WORKERS = 8; // concurrent pages; each worker holds only one message
const TRIES = 5; // deliveries before a failed page goes to DEAD
const SIGN_OF_LIFE = 5_000; // ms; a third of AckWait
const FULL = [10077, 10047, 10023]; // JetStream is full: wait, do not fail

let stopping = false;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const { values: options } = parseArgs({ options: { nats: { type: "string" }, data: { type: "string" } } });
// A `seine crawl` stores the address and the token of its server in its --data folder.
const local = options.data ? JSON.parse(readFileSync(path(options.data, "nats", "context.json"), "utf8")) : {};
const nc = await connect({
  servers: options.nats ?? local.url ?? process.env.SEINE_NATS_URL ?? "nats://127.0.0.1:4222", token: local.token,
  name: STAGE, maxReconnectAttempts: -1, waitOnFirstConnect: true,
});
const js = jetstream(nc);
const bodies = new Objm(js);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => { stopping = true; });

const consumer = await join();
if (consumer) {
  console.log(`${STAGE}: reading pages from ${nc.getServer()}`);
  await Promise.all(Array.from({ length: WORKERS }, work));
}
await nc.drain();

// join waits until a frontier has created the streams, refuses an unknown wire version, and returns the consumer.
async function join() {
  while (!stopping) {
    try {
      const meta = await new Kvm(js).open("seine_meta");
      const layout = (await meta.get("layout"))?.json();
      if (layout && layout.v !== VERSION) throw new Poison(`the streams have version ${layout.v}, this stage reads ${VERSION}`);
      if (layout) return await durable();
    } catch (err) {
      if (err instanceof Poison) throw err;
    }
    await sleep(500);
  }
}

// durable creates the consumer that all instances of this stage share. Seine keeps pages until it has acknowledged them, so
// delete it when you stop using the stage: nats consumer rm PAGES readability
async function durable() {
  const manager = await jetstreamManager(nc);
  await manager.consumers.add("PAGES", {
    durable_name: STAGE, filter_subjects: ["seine.pages.*.*", "seine.chained.*.*"], deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit, ack_wait: nanos(15_000), max_deliver: -1, max_ack_pending: 256,
  });
  return js.consumers.get("PAGES", STAGE);
}

// work handles one page after the other until the process stops.
async function work() {
  while (!stopping) {
    let m;
    try {
      m = await consumer.next({ expires: 1_000 });
    } catch {
      await sleep(500); // the connection is lost; the client reconnects
    }
    if (m) await handle(m);
  }
}

async function handle(m) {
  const alive = setInterval(() => m.working(), SIGN_OF_LIFE);
  try {
    const record = await read(m);
    if (record) await publish(recordSubject(m.subject), record.id, JSON.stringify(record.fields));
    m.ack(); // last: the record of the page is stored
  } catch (err) {
    await giveBack(m, err);
  } finally {
    clearInterval(alive);
  }
}

// read returns the record of a page, or none if it is not HTML.
async function read(m) {
  const page = decodePage(m.headers?.get("Seine-Page") ?? "");
  if (!isHTML(page)) return undefined;
  let payload = m.data;
  if (page.body_object) {
    payload = await (await bodies.open("seine_bodies")).getBlob(page.body_object);
    if (!payload) throw new Poison(`body ${page.body_object} is no longer in the object store`);
  }
  const { text, title, language } = textOf(textOfBody(page, bodyOf(page, payload)));
  return {
    id: recordId(page, STAGE),
    fields: {
      kind: STAGE, url: page.url, fetched_at: page.fetched_at, crawl: page.crawl, visit: page.visit,
      title, language, ...readability(text),
    },
  };
}

// publish waits until JetStream has stored a message, also while the stream is full. It does not set the header for
// checked records, so a writer checks the record.
async function publish(subject, msgID, data, more = headers()) {
  for (;;) {
    try {
      await js.publish(subject, data, { msgID, headers: more });
      return;
    } catch (err) {
      if (!FULL.includes(err.code) || stopping) throw err;
      await sleep(250);
    }
  }
}

// giveBack requests a redelivery after a delay; an unreadable page, or one that failed too often, goes to DEAD.
async function giveBack(m, err) {
  const tries = m.info.deliveryCount;
  if (stopping || (!(err instanceof Poison) && tries < TRIES)) {
    m.nak(stopping ? 0 : 1000 * 2 ** tries);
    return;
  }
  const letter = headers();
  for (const name of m.headers?.keys() ?? []) if (!name.startsWith("Nats-")) letter.set(name, m.headers.get(name));
  const where = { stream: m.info.stream, sequence: m.info.streamSequence, subject: m.subject, tries };
  const added = deadHeaders(STAGE, where, err.message, new Date());
  for (const [name, value] of Object.entries(added)) letter.set(name, value);
  try {
    await publish(`seine.dead.${STAGE}.${m.subject.split(".")[2]}`, added["Nats-Msg-Id"], m.data, letter);
    m.term();
  } catch {
    m.nak(5_000); // the dead letter could not be stored: keep the message
  }
  console.error(`${STAGE}: ${m.subject} ${where.sequence}: ${err.message}`);
}
