package pageproxy

import (
	"context"
	"sync"
)

// hostSlots limit the number of concurrent requests to a host.
type hostSlots struct {
	perHost int

	mu     sync.Mutex
	byHost map[string]chan struct{} // full: all in use
}

func newHostSlots(perHost int) hostSlots {
	return hostSlots{perHost: perHost, byHost: map[string]chan struct{}{}}
}

// take waits for a slot. The caller must give it back.
func (s *hostSlots) take(ctx context.Context, host string) (giveBack func(), err error) {
	slots := s.of(host)
	select {
	case slots <- struct{}{}:
		return sync.OnceFunc(func() { <-slots }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *hostSlots) of(host string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byHost[host] == nil {
		s.byHost[host] = make(chan struct{}, s.perHost)
	}
	return s.byHost[host]
}
