// Package frontier decides what is fetched, and when.
//
// It consumes SEEDS (what people feed), URLS (what was found, and the ends of
// visits) and RESULTS (how requests ended), and emits FETCH: requests that are
// due now. Any number of processes share the partitions by leases. For every
// partition whose lease it holds a process runs one loop, over state that lives
// in a Pebble store beside it, with snapshots for the next owner:
//
//	URLS, RESULTS ─► turn: apply, dispatch, commit ─► FETCH
//
// A turn applies what came in, picks what is due, and commits both with the
// positions it has reached in the streams, in this order: first it is durable,
// then the requests are published, then the input is acknowledged. A crash
// anywhere repeats at most a publish, whose identity JetStream knows. The
// intake never waits for the dispatch, so the pipeline's loop cannot deadlock.
//
// Guarantees: a URL that was acknowledged on SEEDS or URLS is dispatched once
// per round and ends in one state that says why; a host never has more
// requests under way, or sooner after each other, than its delay allows, over
// restarts and moves of its partition too; memory depends on the
// configuration, but for some bytes of filter for each URL.
//
// What a partition knows and decides is package state. Here is what is around it: intake
// (seeds), partition_loop, outbox and publish_seeds (what leaves it), budgets (what
// partitions share), spec_source (the specs), takeover, snapshotter and rebuild (how a
// partition moves), deletions and expiry (how a crawl ends), serve and queries (who asks).
package frontier
