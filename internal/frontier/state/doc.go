// Package state is the state of a partition of the frontier: the known URLs, the decisions
// which of them to fetch, which host may get a request, and which request is next.
//
// A Partition receives candidates and results (as they are on URLS and
// RESULTS), the specs, and the time; it returns the requests that are due. A Store holds
// its state. Each turn is one commit to the store, with the positions in
// the streams up to which it is applied. So a kill at any moment leaves the state of the
// end of a turn. The package knows neither NATS nor a clock: the loop of package frontier has those,
// and the model test simulates both, with crashes, moves and wrong clocks.
//
// Guarantees: a URL that was applied is returned for sending once per round and ends in
// one state, with the reason; a host never has more requests in flight, or in shorter
// intervals, than its delay allows, also over restarts and moves; memory depends on the
// options, except for some bytes of filter for each URL; no fault of the store ends it.
//
// A Partition consists of parts, each of which uses those before it, and none after it:
//
//   - base: the store, the turn, the partition's time, and the log of repairs.
//   - crawls: each crawl's counters and rules. runs: the figures of its runs.
//   - hosts: hosts and domains, with their politeness. schedule: when each is due.
//   - urls: the record of each URL. queues: the URLs that wait for their host.
//   - scope: why a URL is not fetched.
//   - visits: what happens to a URL, from its queue to the end of its visit and to the next.
//   - discovery: takes the messages of URLS.
//   - Requests: what is in FETCH, and the messages of RESULTS. Dispatcher: which request is next.
//   - Seeds: the seeds that specs list. reviews: judge, audit or visit again all URLs of a crawl, step by step; start runs.
//   - Removals: deleted crawls, which are forgotten step by step.
//   - Budgets: limits that partitions share. Questions: answers for package frontierapi.
package state
