package writer

import (
	"fmt"
	"regexp"
	"time"

	"github.com/alecthomas/kong"

	"seine/pkg/messages"
)

// Config is how a writer process is set up. The defaults are in the tags.
type Config struct {
	Out          string            `help:"Directory for the files of records." default:"./seine-out" placeholder:"DIR"`
	Name         string            `help:"Name of the writer: writers of one name share the work, each other name reads everything for itself." default:"default" placeholder:"NAME"`
	Format       string            `help:"Format of the files: jsonl, jsonl.gz or jsonl.zst." enum:"jsonl,jsonl.gz,jsonl.zst" default:"jsonl.zst"`
	ChunkRecords int               `help:"A file is finished after this many records." default:"10000" placeholder:"N"`
	ChunkBytes   messages.Bytes    `help:"A file is finished after this many bytes, before compression." default:"64MiB" placeholder:"SIZE"`
	ChunkAge     messages.Duration `help:"A file is finished this long after its first record." default:"60s" placeholder:"TIME"`
	State        string            `help:"Directory of the writer's index." default:"./seine-data/writer" placeholder:"DIR"`
	Drain        messages.Duration `help:"How long to finish what is held after the first signal." default:"20s" placeholder:"TIME"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	var c Config
	if err := kong.ApplyDefaults(&c); err != nil {
		panic(fmt.Sprintf("defaults of the writer: %v", err))
	}
	return c
}

var (
	writerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,30}$`)

	// What is read and not committed is not acknowledged. The server delivers
	// nothing beyond MaxAckPending of that, and delivers it again after AckWait.
	consumer   = messages.PartitionConsumer("", "", 0)
	maxRecords = consumer.MaxAckPending - 1024
	maxAge     = consumer.AckWait - time.Minute
)

// Validate names the first option that is wrong, and what would be right.
func (c *Config) Validate() error {
	_, known := formats[c.Format]
	switch {
	case c.Out == "":
		return fmt.Errorf("--out: must name a directory")
	case c.State == "":
		return fmt.Errorf("--state: must name a directory")
	case !writerName.MatchString(c.Name):
		return fmt.Errorf("--name %q: must be 1 to 31 of a-z, 0-9, '-' and '_', and start with a letter or digit", c.Name)
	case !known:
		return fmt.Errorf("--format %q: must be jsonl, jsonl.gz or jsonl.zst", c.Format)
	case c.ChunkRecords < 1 || c.ChunkRecords > maxRecords:
		return fmt.Errorf("--chunk-records %d: must be from 1 to %d, or the server would stop sending before a file is finished", c.ChunkRecords, maxRecords)
	case c.ChunkBytes < 1<<10:
		return fmt.Errorf("--chunk-bytes %s: must be at least 1KiB", c.ChunkBytes)
	case c.ChunkAge < messages.Duration(100*time.Millisecond) || c.ChunkAge > messages.Duration(maxAge):
		return fmt.Errorf("--chunk-age %s: must be from 100ms to %s, or the server would send everything again", c.ChunkAge, maxAge)
	case c.Drain < messages.Duration(time.Second):
		return fmt.Errorf("--drain %s: must be at least 1s", c.Drain)
	}
	return nil
}
