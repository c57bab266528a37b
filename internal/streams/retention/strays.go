package retention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A client may publish to a subject of a stream that no consumer reads, such as that of a partition
// that does not exist: the server acknowledges it. The janitor moves such messages to DEAD, and
// checks for them before it purges.

// StrayStreams are the streams with subjects that no stage reads.
var StrayStreams = []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamResults, messages.StreamRecords}

const (
	// straysEvery is how often the janitor checks for strays.
	straysEvery = 30 * time.Second
	// maxStrayReads limits the messages that are read for one subject at a time: one with a
	// wildcard matches messages of other subjects.
	maxStrayReads = 10_000
)

// Strays returns the subjects of a stream that no consumer of Seine reads, with their numbers of
// messages.
func Strays(ctx context.Context, b *stages.Bus, stream string) (map[string]uint64, error) {
	state, err := stages.Subjects(ctx, b, stream, ">")
	all := maps.Clone(state.Subjects)
	maps.DeleteFunc(all, func(subject string, _ uint64) bool { return !messages.IsStray(stream, subject, b.Layout.Partitions) })
	return all, err
}

// moveStrays moves the strays of a stream to DEAD.
func (j *Janitor) moveStrays(ctx context.Context, stream string) error {
	all, err := Strays(ctx, j.Bus, stream)
	for subject := range all {
		err = errors.Join(err, j.moveSubject(ctx, stream, subject))
	}
	return err
}

func (j *Janitor) moveSubject(ctx context.Context, stream, subject string) error {
	pub, n := stages.NewPublisher(j.Bus, messages.StageFrontier), 0
	why := fmt.Errorf("no consumer reads %s: a subject of %s ends in a partition from 0 to %d, or for SEEDS in the name of a crawl", subject, stream, j.Bus.Layout.Partitions-1)
	s, err := j.Bus.JS.Stream(ctx, stream)
	if err != nil {
		return err
	}
	for m, err := range j.Bus.EachFromLeader(ctx, stream, subject, 1) {
		if n++; err != nil || n > maxStrayReads {
			return err
		}
		if m.Subject != subject {
			continue
		}
		header, _ := nats.DecodeHeadersMsg(m.Header) // it may have none
		stray := &stages.Message{Subject: subject, Header: header, Data: m.Data, Stream: stream, Sequence: m.Seq, Stored: m.Time}
		err = pub.Publish(ctx, stages.DeadLetter(messages.StageFrontier, stray, why))
		if err == nil {
			j.Log.Warn("message goes to DEAD", "subject", subject, "sequence", m.Seq, "error", why)
			err = s.DeleteMsg(ctx, m.Seq)
		}
		if err != nil {
			return fmt.Errorf("move message %d of %s to DEAD: %w", m.Seq, stream, err)
		}
	}
	return nil
}
