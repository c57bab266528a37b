// Package state is what a partition of the frontier knows and decides: which URLs there
// are, which of them are wanted, which host may be asked, and what comes next.
//
// A Partition is given what came in (candidates and results, as they are on URLS and
// RESULTS), the specs, and the time; it returns the requests that are due. All that it
// knows is in a Store, and each turn reaches that as one commit, with the positions in
// the streams up to which it is applied. So a kill at any moment leaves the state of some
// turn's end. It knows neither NATS nor a clock: the loop of package frontier has those,
// and the model test plays both, with crashes, moves and wrong clocks.
//
// Guarantees: a URL that was applied is returned for sending once per round and ends in
// one state that says why; a host never has more requests under way, or sooner after each
// other, than its delay allows, over restarts and moves too; memory depends on the
// options, but for some bytes of filter for each URL; no fault of the store ends it.
//
// The files follow a URL: admit (is it new), scope (is it wanted), queue, dispatch,
// apply_result, set_state, recrawl; parked_hosts, reevaluate, quota and budget hold it up or
// let it go; partition, commit, tx, record, host, keys and store are the state itself;
// snapshot_sst and snapshot_origin are how it moves; status, survey, failed_urls and
// reason_examples answer the questions of package frontierapi.
package state
