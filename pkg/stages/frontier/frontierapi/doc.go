// Package frontierapi asks the frontiers of a cluster how crawls, hosts and URLs stand, and
// tells them to pause, resume, cancel and delete. It has the questions and the answers as they
// go over NATS, request and reply, and the Client that puts them to all partitions and puts
// the answers together.
//
// A question changes nothing. It is answered by the owner of a partition; one that nobody
// answers is asked again for 5 s, as a partition may be about to move. What a frontier is told
// to do, it stores in the spec of the crawl before it answers.
//
// A program that asks imports this package, and not the frontier.
package frontierapi
