// Package frontierapi queries the frontiers of a cluster for the state of crawls, hosts and URLs,
// and orders them to pause, resume, cancel and delete crawls. It has the queries and answers of the
// NATS request-reply protocol, and the Client that sends them to all partitions and merges the
// answers.
//
// A query changes nothing. The owner of a partition answers it. The client repeats an unanswered
// query for 5 s, since a partition may be about to move. A frontier stores a command in the spec of
// the crawl before it answers.
//
// Clients import this package, and not the frontier.
package frontierapi
