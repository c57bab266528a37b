package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
	"seine/pkg/messages"
	"seine/pkg/stages/writer"
)

// commits returns the commits of this replay's writer at the destination.
func (r *replay) commits() ([]output.Commit, error) {
	all, err := r.Writer.ReadCommits()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sqlsink.ErrNoTables) { // nothing is committed yet
		return nil, nil
	}
	return all, err
}

// refuseCommits returns an error if the destination has commits of another replay. created is the
// creation time of this replay's scratch stream.
func (r *replay) refuseCommits(created time.Time) error {
	all, err := r.commits()
	if err != nil {
		return err
	}
	for i := range all {
		if !all[i].Created.Equal(created) {
			return fmt.Errorf("--out %s: has the commits of another replay, or of this one with another --state: name another place", writer.Redact(r.Writer.Out))
		}
	}
	return nil
}

// checkOutput verifies that the destination has exactly the commits of this replay. The scratch
// server does not keep committed records, so removed files cannot be restored.
func (r *replay) checkOutput(ctx context.Context) error {
	s, err := r.scratch.feed.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return fmt.Errorf("open scratch stream %s: %w", messages.StreamRecords, err)
	}
	if err := r.refuseCommits(s.CachedInfo().Created); err != nil {
		return err
	}
	all, err := r.commits()
	if err != nil {
		return err
	}
	committed := make(map[string]uint64)
	for i := range all {
		name := messages.PartitionConsumer(messages.ConsumerWriter+"-"+WriterName, "records", all[i].Partition).Durable
		committed[name] = max(committed[name], all[i].LastSeq)
		r.kept += int64(all[i].Records() + all[i].Replaced)
	}
	consumers, err := r.scratch.feed.Consumers(ctx, messages.StreamRecords)
	if err != nil {
		return err
	}
	for _, c := range consumers {
		if c.AckFloor.Stream > committed[c.Config.Durable] {
			return fmt.Errorf("--out %s: files that this replay committed are missing: remove %s to start again", writer.Redact(r.Writer.Out), r.State)
		}
	}
	return nil
}
