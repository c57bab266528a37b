package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/frontier/state"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// seedIntake forwards the messages of SEEDS to the partitions.
type seedIntake struct{ *Frontier }

// worker returns the runner that turns seeds into candidates of the right partitions.
func (si seedIntake) worker() *stages.Runner {
	consumer, _ := messages.NamedConsumer(messages.StreamSeeds, messages.ConsumerSeeds)
	return &stages.Runner{
		Stage: messages.StageFrontier, Bus: si.bus, Stream: messages.StreamSeeds, Consumer: consumer,
		Workers: 2, Prefetch: 2, Handle: si.seeds, Drain: time.Duration(si.cfg.Drain),
	}
}

// seeds handles one message of SEEDS. Each invalid line goes to DEAD; the others are processed.
func (si seedIntake) seeds(ctx context.Context, m *stages.Message) (stages.Output, error) {
	var out stages.Output
	crawl := messages.CrawlOf(m.Subject)
	if err := messages.CheckCrawl(crawl); err != nil {
		return out, stages.PoisonError(err)
	}
	// A spec or a deletion that was stored before the seeds may not be known here yet.
	spec, err := si.specs.GetSure(ctx, crawl)
	if err != nil {
		return out, err
	}
	if covered, err := si.covers(ctx, spec.Deletion, m); err != nil || covered {
		return out, err
	}
	rules, err := si.compiledFor(crawl, spec)
	if err != nil {
		return out, err
	}
	seeds, bad := messages.DecodeSeeds(m.Data)
	if len(bad) > 0 {
		si.log.Warn("not a seed", "crawl", crawl, "seed", messages.Clip(bad[0].Text), "error", bad[0].Err, "bad_in_message", len(bad))
	}
	out.First = deadParts(m, bad)
	era := si.eras.Load().At(m.Stored) // a message that is published again, perhaps after a restore, begins the same visits
	for p, urls := range si.byPartition(seeds, rules) {
		for _, some := range messages.Batches(urls, messages.BatchBytes(si.bus.MaxPayload())) {
			c := messages.Candidates{Crawl: crawl, Rev: rules.Rev, Source: messages.SourceSeed, Era: era, URLs: some}
			out.First = append(out.First, &nats.Msg{Subject: messages.SubjectURLs(c.Source, crawl, p), Data: c.Encode()})
		}
	}
	if spec.Keep == 0 {
		return out, nil
	}
	if err := si.pub.Publish(ctx, out.First...); err != nil {
		return out, err
	}
	exists, err := si.specs.Expiry.Fed(ctx, crawl, spec)
	if err == nil && !exists { // the seeds belong to the next crawl
		return si.seeds(ctx, m)
	}
	return stages.Output{}, err
}

// covers reports whether a message was stored before its crawl was deleted.
func (si seedIntake) covers(ctx context.Context, d *messages.Deletion, m *stages.Message) (bool, error) {
	if d == nil || d.Streams[m.Stream].Sequence < m.Sequence {
		return false, nil
	}
	s, err := si.bus.JS.Stream(ctx, m.Stream)
	if err != nil {
		return false, fmt.Errorf("inspect stream %s: %w", m.Stream, err)
	}
	return d.Covers(m.Stream, s.CachedInfo().Created, m.Sequence), nil
}

func (si seedIntake) byPartition(seeds []messages.Seed, rules *state.Rules) map[int][]messages.Candidate {
	ps := make(map[int][]messages.Candidate)
	for _, s := range seeds {
		url := rules.NormalizeURL(s.URL)
		p := messages.Partition(url, si.bus.Layout.Partitions)
		ps[p] = append(ps[p], messages.Candidate{URL: url, Priority: s.Priority, Metadata: s.Metadata, Inherit: s.Inherit, Sitemap: s.Sitemap})
	}
	return ps
}

// maxLetters bounds the dead letters of one message.
const maxLetters = 100

// deadParts returns a dead letter for each invalid part of a message. Beyond maxLetters, the last
// letter reports how many parts have none.
func deadParts(m *stages.Message, bad []messages.BadURL) (letters []*nats.Msg) {
	for i, b := range bad[:min(len(bad), maxLetters)] {
		reason := b.Err.Error()
		if i == maxLetters-1 && len(bad) > maxLetters {
			reason = fmt.Sprintf("%d more parts of the message cannot be handled and have no letter; of this one: %s", len(bad)-maxLetters, reason)
		}
		d := stages.DeadOf(messages.StageFrontier, m, reason)
		d.Payload, d.Part = []byte(b.Text), i+1
		letters = append(letters, d.Msg())
	}
	return letters
}
