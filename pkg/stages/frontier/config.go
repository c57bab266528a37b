package frontier

import (
	"fmt"
	"time"

	"seine/internal/base/defaults"
	"seine/internal/frontier/state"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Config is the configuration of a frontier process. The defaults are in the tags.
type Config struct {
	State         string             `help:"Directory of the frontier's store." default:"./seine-data/frontier"`
	Adopt         bool               `help:"Continue with the --state of another installation, for example after the NATS server lost its data. Needed once."`
	Partitions    int                `help:"Number of partitions. Fixed when the streams are created." default:"16"`
	Replicas      int                `help:"Replicas of each stream in a NATS cluster." default:"1"`
	Sync          state.Sync         `help:"Durability of a commit: os (survives kill -9) or always (survives a power failure)." enum:"os,always" default:"os"`
	Cache         crawlspec.Bytes    `help:"Block cache of the store." default:"64MiB"`
	Known         crawlspec.Bytes    `name:"link-cache" help:"Cache of recently seen links, 10 bytes each, which saves lookups in the store." default:"48MiB"`
	Hosts         int                `help:"Hosts kept in memory, about 0.5 KiB each; the others are on disk." default:"100000"`
	Take          PartitionSelector  `name:"partitions-owned" help:"Partitions to own: fair (an equal share among the running frontiers), all, or a list such as 0-7,12." default:"fair"`
	SnapshotEvery crawlspec.Duration `help:"Interval between snapshots of a partition, from which other frontiers take it over; 0s disables snapshots." default:"5m"`
	// Offline is for inspecting a crawl whose other stages do not run: the frontier applies stored
	// messages and answers queries, but sends no requests and starts no scheduled runs.
	Offline bool               `kong:"-"`
	Drain   crawlspec.Duration `help:"Time to finish in-flight work after the first signal." default:"20s"`

	SeedsBytes    crawlspec.Bytes    `group:"streams" help:"Maximum size of the stream SEEDS." default:"256MiB"`
	URLsBytes     crawlspec.Bytes    `group:"streams" name:"urls-bytes" help:"Maximum size of the stream URLS." default:"512MiB"`
	FetchMessages int64              `group:"streams" help:"Maximum messages in the stream FETCH: in-flight requests to all hosts." default:"1024"`
	ResultsBytes  crawlspec.Bytes    `group:"streams" help:"Maximum size of the stream RESULTS." default:"256MiB"`
	PagesBytes    crawlspec.Bytes    `group:"streams" help:"Maximum size of the stream PAGES." default:"2GiB"`
	RecordsBytes  crawlspec.Bytes    `group:"streams" help:"Maximum size of the stream RECORDS." default:"1GiB"`
	DeadBytes     crawlspec.Bytes    `group:"streams" help:"Maximum size of the stream DEAD." default:"256MiB"`
	SnapshotBytes crawlspec.Bytes    `group:"streams" help:"Maximum size of the object store for snapshots." default:"4GiB"`
	BodiesBytes   crawlspec.Bytes    `group:"streams" help:"Maximum size of the object store for large bodies." default:"1GiB"`
	DeadAge       crawlspec.Duration `group:"streams" help:"Retention of dead letters." default:"720h"`
	KeepShare     float64            `group:"streams" help:"Fraction of a stream's limit that consumed messages may occupy." default:"0.5"`
	KeepAge       crawlspec.Duration `group:"streams" help:"Retention of consumed messages." default:"168h"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return defaults.Of[Config]() }

// Validate returns an error for the first invalid option, with its valid values.
func (c *Config) Validate() error {
	switch {
	case c.State == "":
		return fmt.Errorf("--state: must name a directory")
	case c.Partitions < 1 || c.Partitions > messages.MaxPartitions:
		return fmt.Errorf("--partitions %d: must be from 1 to %d", c.Partitions, messages.MaxPartitions)
	case c.Replicas < 1 || c.Replicas > 5:
		return fmt.Errorf("--replicas %d: must be from 1 to 5", c.Replicas)
	case c.Cache < 1<<20:
		return fmt.Errorf("--cache %s: must be at least 1MiB", c.Cache)
	case c.Known < 0 || c.Known > 64<<30:
		return fmt.Errorf("--link-cache %s: must be from 0 to 64GiB", c.Known)
	case c.Hosts < 1024:
		return fmt.Errorf("--hosts %d: must be at least 1024", c.Hosts)
	case c.SnapshotEvery < 0 || c.SnapshotEvery > 0 && c.SnapshotEvery < crawlspec.Duration(time.Second):
		return fmt.Errorf("--snapshot-every %s: must be 0s (never) or at least 1s", c.SnapshotEvery)
	case c.FetchMessages < 1 || c.FetchMessages > 100_000:
		return fmt.Errorf("--fetch-messages %d: must be from 1 to 100000", c.FetchMessages)
	case c.KeepShare < 0 || c.KeepShare > 0.9:
		return fmt.Errorf("--keep-share %g: must be from 0 to 0.9, to leave room for unread messages", c.KeepShare)
	case c.KeepAge < 0 || c.DeadAge < crawlspec.Duration(time.Minute):
		return fmt.Errorf("--keep-age must not be negative, --dead-age at least 1m")
	}
	if _, err := c.Take.Partitions(c.Partitions); err != nil {
		return fmt.Errorf("--partitions-owned: %w", err)
	}
	for name, size := range map[string]crawlspec.Bytes{
		"seeds": c.SeedsBytes, "urls": c.URLsBytes, "results": c.ResultsBytes, "pages": c.PagesBytes,
		"records": c.RecordsBytes, "dead": c.DeadBytes, "bodies": c.BodiesBytes, "snapshot": c.SnapshotBytes,
	} {
		if size < 2<<20 {
			return fmt.Errorf("--%s-bytes %s: must be at least 2MiB, to hold the largest message", name, size)
		}
	}
	return nil
}

// hostsPerPartition bounds the hosts that one partition keeps in memory.
func (c *Config) hostsPerPartition(partitions int) int { return max(256, c.Hosts/partitions) }

func (c *Config) limits() messages.StreamLimits {
	l := messages.StreamLimits{
		SeedsBytes: int64(c.SeedsBytes), URLsBytes: int64(c.URLsBytes), FetchMessages: c.FetchMessages,
		ResultsBytes: int64(c.ResultsBytes), PagesBytes: int64(c.PagesBytes), RecordsBytes: int64(c.RecordsBytes), SnapshotsBytes: int64(c.SnapshotBytes),
		DeadBytes: int64(c.DeadBytes), BodiesBytes: int64(c.BodiesBytes), DeadAge: time.Duration(c.DeadAge),
	}
	if c.SnapshotEvery == 0 {
		l.SnapshotsBytes = 0
	}
	return l
}
