package top

import (
	"context"
	"errors"

	"seine/internal/ops/overview"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Bounds of what is asked for in one look, however much there is.
const (
	maxCrawls  = 40 // whose figures are asked for
	maxHosts   = 60 // of each order
	maxLetters = 8
)

// source reads for the screen, and gives its orders.
type source struct {
	bus    *stages.Bus
	reader overview.Reader
}

func newSource(bus *stages.Bus, crawl string) *source {
	return &source{bus, overview.Reader{Bus: bus, Crawl: crawl, Most: maxCrawls, Alerts: true, Hosts: maxHosts, Letters: maxLetters}}
}

// refresh must not be called while an earlier call has not returned.
func (s *source) refresh(ctx context.Context, first []string) Looked {
	s.reader.First = first
	o, err := s.reader.Read(ctx)
	return Looked{Overview: o, Err: err, Connected: s.bus.NC.IsConnected()}
}

func (s *source) host(ctx context.Context, name string) HostLooked {
	status, err := frontierapi.Client{Bus: s.bus}.Host(ctx, name)
	if err != nil {
		return HostLooked{Name: name, Err: err}
	}
	robots, err := overview.RobotsOf(ctx, s.bus, status.Host)
	return HostLooked{Name: name, Host: &Host{status, robots}, Err: err}
}

func (s *source) steer(ctx context.Context, order Steer) Steered {
	var errs []error
	for _, crawl := range order.Crawls {
		_, err := frontierapi.Client{Bus: s.bus}.SetState(ctx, crawl, order.Host, order.State)
		errs = append(errs, err)
	}
	return Steered{order, errors.Join(errs...)}
}
