package crawlspec

import (
	"fmt"
	"time"

	"seine/internal/base/overlay"
)

// A request takes at least and at most so long.
const (
	minTimeout = Duration(time.Millisecond)
	maxTimeout = Duration(time.Hour)
)

// Limits bound the resources of a request and the attempts of a URL.
type Limits struct {
	MaxAttempts  int
	MaxRedirects int
	MaxBody      Bytes
	Timeout      Duration
}

// HostLimits returns those that hold for the URLs of a host, given without its port.
func (s *Spec) HostLimits(host string) Limits { return s.SourceLimits(s.SourceOf(host)) }

// SourceLimits is what HostLimits returns for the hosts of source i, and for those of no
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

func (l *Limits) check() error {
	switch {
	case l.MaxAttempts < 1 || l.MaxAttempts > 100:
		return fmt.Errorf("max_attempts %d: must be from 1 to 100", l.MaxAttempts)
	case l.MaxRedirects < 0 || l.MaxRedirects > 50:
		return fmt.Errorf("max_redirects %d: must be from 0 to 50", l.MaxRedirects)
	case l.MaxBody < 1 || l.MaxBody > 1<<30:
		return fmt.Errorf("max_body %s: must be from 1B to 1GiB", l.MaxBody)
	case l.Timeout < minTimeout || l.Timeout > maxTimeout:
		return fmt.Errorf("timeout %s: must be from 1ms to 1h", l.Timeout)
	}
	return nil
}
