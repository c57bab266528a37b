package state

import (
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
)

// A registrable domain has a record like a host's, under its name after lineMark: how its hosts were asked last, by how
// many requests at once, and how many pages came. It is kept for every request, so that a crawl may group by domain (or no
// longer do so) at any time. Queues, sources, pauses and the breaker are each host's own.
//
// Hosts whose crawls group by domain stand in line for it, by the time at which they may be asked themselves; in the due
// index, the domain stands for all of them. They go in this order: none passes the first because it is content with less.

// lineMark starts the name of a domain among hosts and in the due index; no host begins so.
const lineMark = "\x01"

// afterDomains is the least that the name of a host begins with.
const afterDomains = '\x02'

// domainLine are the hosts in line for a domain.
type domainLine struct {
	refs  int   // hosts in memory that point to the domain
	first int64 // no host in the line is due before; math.MaxInt64 if the line is empty
	held  bool  // the first in line must wait, and so must the others, in this turn
}

// isDomain reports whether a name is that of a domain.
func isDomain(name string) bool { return strings.HasPrefix(name, lineMark) }

// domainName is the name of a host's domain among hosts.
func (h *host) domainName() string { return lineMark + weburl.Domain(h.hostname()) }

// shared are the rules of a host for its domain: that a host is down, or has hours,
// is no reason to leave the others alone.
func shared(r *politeness.Rules) *politeness.Rules {
	if r == nil {
		return nil
	}
	both := *r
	both.Breaker, both.Hours = politeness.Breaker{}, politeness.Hours{}
	return &both
}
