// Package steer pauses, resumes and cancels crawls, or single hosts of a crawl.
package steer

import (
	"context"
	"fmt"

	"seine/internal/ops/lookup"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Order is a change of state.
type Order struct {
	Crawl string
	Host  string // "" for the whole crawl
	// NewHost permits a host that is not known yet.
	NewHost bool
	State   crawlspec.RunState
}

// Done is the result of an order.
type Done struct {
	Crawl string             `json:"crawl"`
	Host  string             `json:"host,omitempty"` // as in the spec
	State crawlspec.RunState `json:"state"`
	Rev   uint64             `json:"revision"` // of the changed spec
	// Stopped lists hosts of a running crawl that are themselves paused or cancelled, and stay so.
	Stopped []StoppedHosts `json:"stopped,omitempty"`
}

// Where describes the scope of an order for a host: all ports, even if a port is given.
func Where(host string) string {
	name, err := crawlspec.HostName(host)
	if err != nil || name == host {
		return host
	}
	return name + " on all ports"
}

// StoppedHosts are the hosts of a source that is paused or cancelled.
type StoppedHosts struct {
	Hosts []string           `json:"hosts"`
	State crawlspec.RunState `json:"state"`
}

// Set carries out an order. The error is a *lookup.NotFoundError for a crawl or a host that does
// not exist.
func Set(ctx context.Context, bus *stages.Bus, o Order) (Done, error) {
	done := Done{Crawl: o.Crawl, State: o.State}
	if err := lookup.Crawl(ctx, bus, o.Crawl); err != nil {
		return done, err
	}
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		return done, err
	}
	client := frontierapi.Client{Bus: bus}
	if o.Host != "" {
		if done.Host, err = crawlspec.HostName(o.Host); err != nil {
			return done, err
		}
		if err := o.checkHost(ctx, client, specs); err != nil {
			return done, err
		}
	}
	if done.Rev, err = client.SetState(ctx, o.Crawl, done.Host, o.State); err != nil {
		return done, err
	}
	if o.Host == "" && o.State == crawlspec.Running {
		done.Stopped, err = stopped(ctx, specs, o.Crawl)
	}
	return done, err
}

func (o *Order) checkHost(ctx context.Context, client frontierapi.Client, specs *stages.Specs) error {
	if o.NewHost {
		return nil
	}
	spec, err := specs.Get(ctx, o.Crawl, 0)
	if err != nil {
		return fmt.Errorf("look for host %s: %w", o.Host, err)
	}
	return lookup.HostOf(ctx, client, spec.Spec, o.Host)
}

func stopped(ctx context.Context, specs *stages.Specs, crawl string) (all []StoppedHosts, err error) {
	spec, err := specs.GetSure(ctx, crawl)
	if err != nil {
		return nil, err
	}
	for i := range spec.Sources {
		if s := &spec.Sources[i]; s.State != nil && *s.State != crawlspec.Running {
			all = append(all, StoppedHosts{s.Hosts, *s.State})
		}
	}
	return all, nil
}
