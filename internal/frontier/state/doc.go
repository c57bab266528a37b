// Package state is the state of a partition of the frontier. It knows the URLs and decides which of
// them to fetch, which host gets a request, and which request is next.
//
// A Partition receives candidates and results (as they are on URLS and RESULTS), the specs, and the
// time. It returns the requests that are due. A Store holds its state. Each turn is one commit to
// the store, together with the applied positions of the streams, so a kill at any moment leaves the
// state at the end of a turn. The package uses neither NATS nor a clock: the loop of package
// frontier has those, and the model test simulates both, with crashes, moves and wrong clocks.
//
// Guarantees:
//
//   - An applied URL is returned for sending once per round and ends in one state, with the reason.
//   - A host never has more requests in flight, or at shorter intervals, than its delay allows, even across restarts and moves.
//   - Memory depends on the options, except for some bytes of filter per URL.
//   - No fault of the store ends a partition.
//
// A Partition consists of parts, each of which uses only those before it:
//
//   - base: the store, the turn, the partition's time, and the log of repairs.
//   - crawls: each crawl's counters and rules. runs: the figures of its runs.
//   - hosts: hosts and domains, with their politeness. schedule: when each is due.
//   - urls: the record of each URL. queues: the URLs that wait for their host.
//   - scope: why a URL is not fetched.
//   - visits: moves a URL from its queue to the end of its visit and to the next.
//   - discovery: applies messages of URLS.
//   - Requests: requests in FETCH, and messages of RESULTS. Dispatcher: picks the next request.
//   - Seeds: the seeds that specs list. reviews: evaluate, audit or revisit all URLs of a crawl, step by step; start runs.
//   - Removals: remove deleted crawls, step by step.
//   - Budgets: limits that partitions share. Questions: answers for package frontierapi.
package state
