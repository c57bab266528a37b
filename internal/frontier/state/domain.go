package state

import (
	"strings"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
)

// A registrable domain has a record like a host's, under its name after lineMark. It holds the
// times of its last requests, its in-flight requests and its page count. It is updated for every
// request, so that a crawl may start or stop grouping by domain at any time. Queues, sources,
// pauses and the breaker belong to each host.
//
// Hosts whose crawls group by domain wait in the domain's line, ordered by their own due times. The
// domain represents them in the due index. They are served in this order: no host overtakes the
// first because its own delay is shorter.

// lineMark starts the name of a domain among hosts and in the due index; no host name begins with
// it.
const lineMark = "\x01"

// afterDomains is the lowest first byte of a host name.
const afterDomains = '\x02'

// domainLine is the line of hosts that wait for a domain.
type domainLine struct {
	refs  int   // hosts in memory that point to the domain
	first int64 // no host in the line is due earlier; math.MaxInt64 if the line is empty
	held  bool  // the first host in line must wait, and so must the others, in this turn
}

// isDomain reports whether name is the name of a domain.
func isDomain(name string) bool { return strings.HasPrefix(name, lineMark) }

// domainName returns the name of the host's domain among hosts.
func (h *host) domainName() string { return lineMark + weburl.Domain(h.hostname()) }

// shared returns a host's rules for its domain. They lack the breaker and the hours, which do not
// affect the domain's other hosts.
func shared(r *politeness.Rules) *politeness.Rules {
	if r == nil {
		return nil
	}
	both := *r
	both.Breaker, both.Hours = politeness.Breaker{}, politeness.Hours{}
	return &both
}
