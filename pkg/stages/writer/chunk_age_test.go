package writer

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
)

// A chunk of a slow stream is left open once beyond the default age. A configured age is kept. So
// is the default for outputs without files of many records.
func TestAgeOfChunksFollowsThePace(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	given := func(c *Config) { c.ChunkAge = crawlspec.Duration(time.Second) }
	for name, c := range map[string]struct {
		adapt func(*Config)
		raw   int64
		waits bool
	}{
		"a slow stream":      {func(*Config) {}, slowBytes - 1, true},
		"a fast stream":      {func(*Config) {}, slowBytes, false},
		"an age":             {given, 1, false},
		"slow Parquet":       {func(c *Config) { c.Format = "parquet" }, 1, true},
		"slow objects":       {func(c *Config) { c.Format = "objects" }, 1, false},
		"slow rows":          {func(c *Config) { c.Out = "sqlite:" + t.TempDir() + "/x.db" }, 1, false},
		"a slow archive":     {func(c *Config) { c.From, c.Format = "pages", "warc.gz" }, 1, false}, // always has that age
		"a slow request log": {func(c *Config) { c.From = "results" }, 1, true},
	} {
		cfg := testConfig(t)
		cfg.ChunkAge = 0
		c.adapt(&cfg)
		w, err := New(cfg, bus)
		check(t, err)
		full := time.NewTimer(time.Hour)
		full.Stop()
		p := &partitionWriter{w: w, form: w.form, full: full, set: newPendingCommit(&fileSet{raw: c.raw})}
		for try := range 2 { // nothing is in the set, so a commit does nothing
			check(t, p.commitAged())
			if waits := full.Stop(); waits != (c.waits && try == 0) {
				t.Errorf("%s: at the age it waits: %v, want %v", name, waits, c.waits)
			}
		}
	}
}
