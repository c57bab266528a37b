package crawlspec

import (
	"time"

	"seine/internal/base/overlay"
)

// Limits bound the resources of a request and the attempts of a URL.
type Limits struct {
	MaxAttempts  int
	MaxRedirects int
	MaxBody      Bytes
	Timeout      Duration
}

// HostLimits returns the limits for the URLs of a host, given without its port.
func (s *Spec) HostLimits(host string) Limits { return s.SourceLimits(s.SourceOf(host)) }

// SourceLimits returns the result of HostLimits for the hosts of source i, or for hosts without a
// source if i is -1.
func (s *Spec) SourceLimits(i int) Limits {
	l := Limits{MaxAttempts: s.MaxAttempts, MaxRedirects: s.MaxRedirects, MaxBody: s.MaxBody, Timeout: s.Timeout}
	if i >= 0 {
		overlay.Set(&l, &s.Sources[i])
	}
	return l
}

// Largest returns limits that no request of the crawl exceeds, whatever its host.
func (s *Spec) Largest() Limits {
	most := s.SourceLimits(-1)
	for i := range s.Sources {
		l := s.SourceLimits(i)
		most = Limits{
			MaxAttempts: max(most.MaxAttempts, l.MaxAttempts), MaxRedirects: max(most.MaxRedirects, l.MaxRedirects),
			MaxBody: max(most.MaxBody, l.MaxBody), Timeout: max(most.Timeout, l.Timeout),
		}
	}
	return most
}

func (l *Limits) check(p *Problems, prefix string) {
	between(p, prefix+"max_attempts", l.MaxAttempts, 1, 100)
	between(p, prefix+"max_redirects", l.MaxRedirects, 0, 50)
	between(p, prefix+"max_body", l.MaxBody, 1, 1<<30)
	between(p, prefix+"timeout", l.Timeout, Duration(time.Millisecond), Duration(time.Hour))
}
