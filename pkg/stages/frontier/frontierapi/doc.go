// Package frontierapi queries the frontiers of a cluster for the state of crawls, hosts and URLs, and
// tells them to pause, resume, cancel and delete. It has the queries and the answers as they
// go over NATS, request and reply, and the Client that sends them to all partitions and joins
// the answers.
//
// A query changes nothing. The owner of a partition answers it; one without an
// answer is sent again for 5 s, as a partition may be about to move. A frontier stores a
// command in the spec of the crawl before it answers.
//
// A client imports this package, and not the frontier.
package frontierapi
