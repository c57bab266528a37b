package top

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"seine/internal/ops/overview"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Bounds of one refresh, however large the cluster is.
const (
	maxCrawls  = 40 // crawls that are queried
	maxHosts   = 60 // of each order
	maxLetters = 8
)

// source reads from a cluster over a connection.
type source struct {
	ctx    context.Context
	bus    *stages.Bus
	reader overview.Reader
}

func newSource(ctx context.Context, bus *stages.Bus, crawl string) *source {
	return &source{ctx, bus, overview.Reader{Bus: bus, Crawl: crawl, Most: maxCrawls, Alerts: true, Hosts: maxHosts, Letters: maxLetters}}
}

// lookTime bounds one refresh.
const lookTime = 15 * time.Second

// refresh must not be called concurrently.
func (s *source) refresh(first []string) tea.Msg {
	ctx, cancel := context.WithTimeout(s.ctx, lookTime)
	defer cancel()
	s.reader.First = first
	o, err := s.reader.Read(ctx)
	return Looked{Overview: o, Err: err, Connected: s.bus.NC.IsConnected()}
}

func (s *source) host(name string) tea.Msg {
	ctx, cancel := context.WithTimeout(s.ctx, lookTime)
	defer cancel()
	status, err := frontierapi.Client{Bus: s.bus}.Host(ctx, name)
	if err != nil {
		return HostLooked{Name: name, Err: err}
	}
	robots, err := overview.RobotsOf(ctx, s.bus, status.Host)
	return HostLooked{Name: name, Host: &Host{status, robots}, Err: err}
}

func (s *source) steer(order Steer) tea.Msg {
	ctx, cancel := context.WithTimeout(s.ctx, lookTime)
	defer cancel()
	var errs []error
	for _, crawl := range order.Crawls {
		_, err := frontierapi.Client{Bus: s.bus}.SetState(ctx, crawl, order.Host, order.State)
		errs = append(errs, err)
	}
	return Steered{order, errors.Join(errs...)}
}
