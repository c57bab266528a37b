// Package natscluster runs a NATS cluster with JetStream on one machine, for
// tests and for the soak: real nats-server processes, each of which can be killed,
// started again, cut off, and slowed down.
//
// Everything that reaches a node, from clients and from the other nodes, goes
// through a link: a listener on loopback that passes on what it gets. A link keeps
// its address while its node is down. One that is cut is silent, as a network is
// that has lost a cable: what was sent waits, connections stay until a client
// closes them, without an error. So a node that is cut off does not know it.
package natscluster
