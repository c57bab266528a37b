// Package netns makes machines out of one: each Host is a network namespace with an interface of its own, and a Network carries
// packets between them, late, lost, slowly or not at all, as it is told.
//
// It needs Linux, root and /dev/net/tun. Nothing of it has a name in the system, so nothing is left behind a process that is
// killed: a namespace goes with the last process that is in it, an interface with whoever has opened it. A Network does what
// tc-netem(8) does to links, in this process, since not every kernel has that.
package netns
