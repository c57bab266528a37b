// Package fetcher is the stage that communicates with the web. It consumes FETCH and emits PAGES
// (fetched pages; for archives, other responses too), URLS (targets of redirects) and RESULTS (the
// end of each request).
//
// It keeps no essential state: its caches (robots.txt, addresses, connections) only save work. The
// page or the redirect's target is stored before the result that promises it, and the result before
// the request is acknowledged.
//
// # Guarantees
//
// Every request ends in exactly one result class, or goes to DEAD with a result for the frontier.
// One turn is one visit to the host: if robots.txt had to be fetched and the host has a delay, the
// page waits for the next turn (class robots_fetched). A request may have been sent before if it
// was redelivered, or if it is older than this process or the current owner of its partition. The
// fetcher then waits for the delay of the host and asks whether the request is still wanted. A
// redirect is a result, not a hop, except to a URL that the crawl considers the same. The fetcher
// dials no address outside the public Internet unless the spec allows it.
//
// # What a crash costs
//
// The requests in flight, at most Workers of them: they are redelivered to another fetcher, which
// waits for the delay and fetches them again. A large body without a message may be left in the
// object store.
//
// # Memory
//
// Bodies use at most MaxInFlightBody, from when they are read until JetStream has stored their
// pages. Each worker has a share; a page that outgrows it uses the common rest. The fetcher does
// not hold bodies of more than 2 MiB: they go to the object store while they arrive. Up to 16 MiB
// more are kept for later decoded bodies.
//
// # The parts
//
// A request of FETCH (handle.go) is a job. Its turn (fetch_job.go) fetches robots.txt
// (robots_check.go, robots.go) and the page through an exchanger, and follows redirects to the page
// itself (self_redirect.go). The results become messages (compose_messages.go,
// archived_responses.go, sitemaps.go). Only the exchanger, package httpclient, communicates with
// sites.
package fetcher
