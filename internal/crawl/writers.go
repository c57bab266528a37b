package crawl

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// ArchiveName is the name of the writer of an archive, beside that of the records.
const ArchiveName = "archive"

// writerConfigs are those of all writers of the crawl.
func (c *crawl) writerConfigs() []writer.Config { return append([]writer.Config{c.Writer}, c.More...) }

// openWriters makes the writers, each on a connection of its own.
func (c *crawl) openWriters(ctx context.Context, own []*stages.Bus) error {
	archive := false
	for i, cfg := range c.writerConfigs() {
		w, err := writer.New(cfg, own[i])
		if err != nil {
			return err
		}
		c.writers = append(c.writers, w)
		archive = archive || cfg.Name == ArchiveName
	}
	if c.server != nil && !archive {
		return c.forgetArchive(ctx)
	}
	return nil
}

// forgetArchive ends what an archive of an earlier run has reserved: it would keep
// pages that nobody reads, until there is no room for others and the crawl stands
// still.
func (c *crawl) forgetArchive(ctx context.Context) error {
	for p := range c.bus.Layout.Partitions {
		name := messages.PartitionConsumer(messages.ConsumerWriter+"-"+ArchiveName, "pages", p).Durable
		err := c.bus.JS.DeleteConsumer(ctx, messages.StreamPages, name)
		switch {
		case errors.Is(err, jetstream.ErrConsumerNotFound):
		case err != nil:
			return fmt.Errorf("forget the archive: %w", err)
		default:
			c.Log.Warn("an earlier run was archived, this one is not: --warc goes on with it", "partition", p)
		}
	}
	return nil
}

// caughtUp reports whether the writers have read all there is.
func (c *crawl) caughtUp(ctx context.Context) (bool, error) {
	for _, w := range c.writers {
		if done, err := w.CaughtUp(ctx); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}
