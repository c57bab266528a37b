package crawl

import (
	"context"

	"seine/internal/base/sleep"
	"seine/internal/fetch/secrets"
	"seine/internal/ops/watchdog"
)

// watchDisks reports the disks that this process writes to.
func (c *crawl) watchDisks() {
	c.Vitals.AddDisk("data", c.Data)
	for i, w := range c.Writers() {
		place := "out"
		if i > 0 { // each destination needs its own metric series
			place = w.Name
		}
		if dir := w.Directory(); dir != "" {
			c.Vitals.AddDisk(place, dir)
		}
	}
}

// runWatchdog runs the watchdog of alerts until ctx is done. It starts after one interval, because most
// crawls end before an alert is possible.
func (c *crawl) runWatchdog(ctx context.Context) {
	spec, err := c.spec(ctx)
	if err != nil || sleep.For(ctx, watchdog.Interval(&spec.Alerts)) != nil {
		return
	}
	if err := c.Vitals.Serve(c.bus.NC, c.Log); err != nil {
		c.Log.Debug("no alerts on memory and disks", "error", err)
	}
	watchdog.New(c.bus, c.specs, c.store.ID, secrets.Store{Folder: c.Fetcher.Secrets}).Run(ctx)
}
