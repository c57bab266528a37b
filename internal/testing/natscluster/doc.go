// Package natscluster runs a NATS cluster with JetStream on one machine, for tests and for the soak
// test. Its nodes are real nats-server processes that can be killed, restarted, cut off and slowed
// down.
//
// All traffic to a node, from clients and from other nodes, goes through a link: a forwarding
// listener on loopback. A link keeps its address while its node is down. A link that is cut is
// silent, like a network with a broken cable: data waits, and connections stay open without an
// error until a client closes them. So a node that is cut off does not know it.
package natscluster
