// Package fetcher is the stage that talks to the web. It consumes FETCH and
// emits PAGES (what was fetched and kept; for archives, other answers too), URLS
// (where a redirect leads) and RESULTS (how each request ended).
//
// It keeps no state that matters: what it caches (robots.txt, addresses,
// connections) only saves work. The page or the redirect's target is stored
// before the result that promises it, and the result before the request is
// acknowledged.
//
// # Guarantees
//
// Every request ends in exactly one result class, or goes to DEAD with a result
// that tells the frontier so. One turn is one visit to the host: when
// robots.txt had to be fetched and the host has a delay, the page waits for the
// next turn (class robots_fetched). A request that may have been done before, since
// it is delivered again, was there before this process or a newer frontier has taken over, lets the host rest
// and asks whether it is still wanted. A redirect is a result, not a hop, but for
// one to what the crawl takes for the same URL. No address outside the public
// Internet is dialled unless the spec allows it.
//
// # What a crash costs
//
// The requests in flight, at most Workers of them: they are delivered to
// another fetcher, which waits out the delay and fetches them once more. A
// large body may be left in the object store under the name that the second
// attempt writes again.
//
// # Memory
//
// Bodies take at most MaxInFlightBody, from when they are read until JetStream has
// stored their pages: a share of each worker, and from the rest what a page needs
// that outgrows its share. One of more than 2 MiB is not held at all: it goes to
// the object store while it comes.
//
// # The parts
//
// A request of FETCH (handle.go) is a job, whose turn (fetch_job.go) asks robots.txt
// (robots_check.go, robots.go) and the page by an exchanger, follows what leads to the page
// itself (self_redirect.go), and is composed into messages (compose_messages.go, archived_responses.go,
// sitemaps.go). The exchanger there is, package httpclient, is all that talks to sites.
package fetcher
