package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/ops/lookup"
	"seine/internal/run/config"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

type hostsCmd struct {
	Hosts []string `arg:"" optional:"" name:"host" help:"Hosts to show (default: the hosts with the slowest responses)."`
	connection
	Crawl string `help:"Only hosts of this crawl." placeholder:"NAME"`
	Top   int    `help:"Number of hosts." default:"20"`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// Help is shown below the list of flags.
func (c *hostsCmd) Help() string {
	return `Examples:

  seine hosts                       # the slowest hosts
  seine hosts --crawl news          # those of one crawl
  seine hosts www.example.org       # one host: what it waits for, and until when

With --crawl, QUEUED and IN FLIGHT count URLs of that crawl; the other columns count the requests of all crawls.`
}

// Validate rejects flags that have no effect on hosts given by name.
func (c *hostsCmd) Validate(flags *kong.Context) error {
	if len(c.Hosts) > 0 && c.Crawl != "" {
		return fmt.Errorf("%s: --crawl selects hosts, but %s is given: omit one of them", c.Hosts[0], c.Hosts[0])
	}
	if top := config.Typed(flags, "top"); len(c.Hosts) > 0 && len(top) > 0 {
		return fmt.Errorf("%s: --top selects hosts, but %s is given: omit one of them", c.Hosts[0], c.Hosts[0])
	}
	return nil
}

// Run shows the frontier's state of hosts.
func (c *hostsCmd) Run() error {
	if c.Top < 1 || c.Top > 1000 {
		return usageError{fmt.Errorf("--top %d: must be from 1 to 1000", c.Top)}
	}
	return c.readOnly("hosts", func(ctx context.Context, bus *stages.Bus) error {
		if err := checkThere(ctx, bus, c.Crawl); err != nil {
			return err
		}
		client := frontierapi.Client{Bus: bus}
		var hosts []frontierapi.HostStatus
		if len(c.Hosts) == 0 {
			var err error
			if hosts, err = client.Slowest(ctx, c.Crawl, c.Top); err != nil {
				return err
			}
		}
		for _, name := range c.Hosts {
			found, err := lookup.Hosts(ctx, client, name)
			if err != nil {
				return notFound(err, "")
			}
			hosts = append(hosts, found...)
		}
		c.keepCrawl(hosts)
		return c.show(hosts)
	})
}

// keepCrawl removes the queues of other crawls, with --crawl.
func (c *hostsCmd) keepCrawl(hosts []frontierapi.HostStatus) {
	if c.Crawl == "" {
		return
	}
	for i := range hosts {
		h := &hosts[i]
		h.Crawls = slices.DeleteFunc(h.Crawls, func(w frontierapi.HostWork) bool { return w.Crawl != c.Crawl })
		h.Queued, h.InFlight = 0, 0
		for _, w := range h.Crawls {
			h.Queued, h.InFlight = w.Queued, w.InFlight
		}
	}
}

func (c *hostsCmd) show(hosts []frontierapi.HostStatus) error {
	if c.JSON {
		return printLines(hosts)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	safeprint.Fprintf(t, "HOST\tQUEUED\tIN FLIGHT\tDELAY\tMEAN\tREQUESTS\tPAGES\tERRORS\tBYTES\tWAITS FOR\n")
	for _, h := range hosts {
		safeprint.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n",
			h.Host, h.Queued, h.InFlight, milliseconds(h.DelayMS), milliseconds(h.MeanMS), h.Requests, h.Pages, h.Errors, humanize.Size(h.Bytes), waitOf(&h))
	}
	return t.Flush()
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// waitOf returns what a host waits for, and how long if that is known.
func waitOf(h *frontierapi.HostStatus) string {
	switch h.Why {
	case "":
		return "-"
	case "parked", "given_up": // by a decision, not for a time
		return h.Why
	}
	return h.Why + ", " + in(h.NextMS)
}
