// Package frontier decides what is fetched, and when.
//
// It consumes SEEDS (URLs from clients), URLS (URLs that were found, and the ends of
// visits) and RESULTS (the ends of requests), and emits FETCH: requests that are
// due now. Any number of processes share the partitions by leases. For every
// partition whose lease it holds a process runs one loop, over state that lives
// in a Pebble store beside it, with snapshots for the next owner:
//
//	URLS, RESULTS ─► turn: apply, dispatch, commit ─► FETCH
//
// A turn applies the input, selects the requests that are due, and commits both with the
// positions it has reached in the streams, in this order: first it is durable,
// then the requests are published, then the input is acknowledged. A crash
// anywhere repeats at most a publish, whose identity JetStream knows. The
// intake never waits for the dispatch, so the pipeline's loop cannot deadlock.
//
// Guarantees: a URL that was acknowledged on SEEDS or URLS is dispatched once
// per round and ends in one state, with the reason; a host never has more
// requests in flight, or in shorter intervals, than its delay allows, also over
// restarts and moves of its partition; memory depends on the
// configuration, except for some bytes of filter for each URL.
//
// Package state has the state and the decisions of a partition. This package has the rest: intake
// (seeds), partition_loop, outbox and publish_seeds (output), budgets (shared
// by partitions), spec_source (the specs), takeover, catch_up and snapshotter (how a partition
// moves), lost_pages (visits without an end), deletions and expiry (how a crawl ends), serve and
// queries (answers to clients).
package frontier
