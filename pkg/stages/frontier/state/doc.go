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
// The files follow a URL: admit (is it new), scope (is it wanted), queue, dispatch,
// apply_result, set_state, recrawl; parked_hosts, reevaluate, quota and budget block or
// release it; partition, commit, tx, record, host, keys and store are the state itself;
// snapshot_sst and snapshot_origin are how it moves; status, survey, failed_urls and
// reason_examples answer the questions of package frontierapi.
package state
