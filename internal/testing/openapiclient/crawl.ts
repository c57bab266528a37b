// Does a whole crawl by the HTTP API: it checks a spec, begins a crawl, checks seeds, waits for its end, reads its
// records, and deletes it. The types of its client are made from the OpenAPI document of the server, so the
// compiler finds what the document does not have.
//
// node crawl.js SERVER CRAWL SEED prints the records as JSON, in the order they were read.
import { setTimeout as sleep } from "node:timers/promises";

import createClient from "openapi-fetch";

import type { components, paths } from "./api.js";

type Problem = components["schemas"]["Problem"];
type Record = components["schemas"]["PageRecord"]["items"][number];

const [server, crawl, seed] = process.argv.slice(2) as [string, string, string];
const api = createClient<paths>({ baseUrl: server });
const ofCrawl = { path: { crawl } };
const asText = { bodySerializer: (text: string) => text };

/** What was answered; a problem is thrown with what to do. */
function answered<T>({ data, error }: { data?: T; error?: Problem }): T {
	if (data === undefined) throw new Error(`${error?.status} ${error?.title}: ${error?.detail}`);
	return data;
}

/** Asks until there is something other than nothing. The test that waits for this program has a limit. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
	for (;;) {
		const answer = await ask();
		if (answer !== undefined) return answer;
		await sleep(50);
	}
}

async function checkSpec(): Promise<void> {
	const check = answered(
		await api.POST("/api/v1/specs/check", { body: "max_pages: many\n", headers: { "Content-Type": "application/yaml" }, ...asText }),
	);
	if (check.ok || check.problems[0]?.line !== 1) throw new Error(`a wrong spec is found ${JSON.stringify(check)}`);
}

async function begin(): Promise<void> {
	const body = { name: crawl, spec: { allow_private: true, delay: "0s" }, seeds: [seed] };
	const params = { header: { "Idempotency-Key": "one" } };
	for (let sent = 0; sent < 2; sent++) answered(await api.POST("/api/v1/crawls", { params, body }));
	const again = await api.POST("/api/v1/crawls", { body });
	if (again.error?.status !== 409) throw new Error(`a second crawl of the name: ${again.response.status}`);
}

async function checkSeeds(): Promise<void> {
	const verdicts = answered(
		await api.POST("/api/v1/crawls/{crawl}/seeds/check", {
			params: { ...ofCrawl, query: { verdicts: "problems" } }, body: `${seed}\nnonsense\n`, headers: { "Content-Type": "text/plain" }, ...asText,
		}),
	);
	if (verdicts.accepted !== 1 || verdicts.verdicts[0]?.line !== 2) throw new Error(`the seeds have ${JSON.stringify(verdicts)}`);
}

async function ended(): Promise<components["schemas"]["Crawl"]> {
	return until(async () => {
		const stands = answered(await api.GET("/api/v1/crawls/{crawl}", { params: ofCrawl }));
		return stands.end === "complete" && stands.queued + stands.in_flight + stands.parsing === 0 ? stands : undefined;
	});
}

/** All records of pages, three at a time. */
async function records(): Promise<Record[]> {
	const all: Record[] = [];
	for (let cursor: string | undefined = ""; cursor !== undefined; ) {
		const page: components["schemas"]["PageRecord"] = answered(
			await api.GET("/api/v1/records", { params: { query: { crawl, kind: "page", limit: 3, cursor } } }),
		);
		all.push(...page.items);
		cursor = page.next;
	}
	return all;
}

async function forget(): Promise<void> {
	answered(await api.DELETE("/api/v1/crawls/{crawl}", { params: ofCrawl }));
	await until(async () => answered(await api.GET("/api/v1/crawls/{crawl}/deletion", { params: ofCrawl })).done || undefined);
	const gone = await api.GET("/api/v1/crawls/{crawl}", { params: ofCrawl });
	if (gone.error?.status !== 404) throw new Error(`a crawl that is deleted: ${gone.response.status}`);
}

await checkSpec();
await begin();
await checkSeeds();
const stands = await ended();
const read = await until(async () => {
	const all = await records(); // they are committed soon after
	return all.length >= stands.pages ? all : undefined;
});
await forget();
console.log(JSON.stringify(read));
