// Package frontier decides what is fetched, and when.
//
// It consumes SEEDS (URLs from clients), URLS (discovered URLs, and the ends of visits) and RESULTS
// (the ends of requests), and emits FETCH: requests that are due now. Any number of processes share
// the partitions by leases. For every partition whose lease it holds, a process runs one loop. Its
// state is in a local Pebble store, with snapshots for the next owner:
//
//	URLS, RESULTS ─► turn: apply, dispatch, commit ─► FETCH
//
// A turn applies the input, selects the requests that are due, and commits both with the positions
// it has reached in the streams. Then it publishes the requests, and then it acknowledges the
// input. A crash at any point repeats at most a publish, whose identity JetStream knows. The intake
// never waits for the dispatch, so the pipeline's loop cannot deadlock.
//
// Guarantees: a URL that was acknowledged on SEEDS or URLS is dispatched once per round and ends in
// one state, with the reason. A host never has more requests in flight, or at shorter intervals,
// than its delay allows, even over restarts and moves of its partition. Memory depends on the
// configuration, except for some bytes of filter for each URL.
//
// Package state has the state and the decisions of a partition. This package has the rest: intake
// (seeds), partition_loop, outbox and publish_seeds (output), budgets (shared by partitions),
// spec_source (the specs), takeover, catch_up and snapshotter (how a partition moves), lost_pages
// (visits without an end), deletions and expiry (how a crawl ends), serve and queries (answers to
// clients).
package frontier
