package crawl

import (
	"context"

	"seine/internal/base/sleep"
	"seine/internal/fetch/secrets"
	"seine/internal/ops/watchdog"
)

// watchDisks reports the disks that this process fills.
func (c *crawl) watchDisks() {
	c.Vitals.AddDisk("data", c.Data)
	for i, w := range c.Writers() {
		place := "out"
		if i > 0 { // each place is a series of metrics
			place = w.Name
		}
		if dir := w.Directory(); dir != "" {
			c.Vitals.AddDisk(place, dir)
		}
	}
}

// guard watches for what alerts are about until ctx is done. It begins when there
// may first be something to say: most crawls are over before that.
func (c *crawl) guard(ctx context.Context) {
	spec, err := c.spec(ctx)
	if err != nil || sleep.For(ctx, watchdog.Interval(&spec.Alerts)) != nil {
		return
	}
	if err := c.Vitals.Serve(c.bus.NC, c.Log); err != nil {
		c.Log.Debug("no alerts on memory and disks", "error", err)
	}
	watchdog.New(c.bus, c.specs, c.store.ID, secrets.Store{Folder: c.Fetcher.Secrets}).Run(ctx)
}
