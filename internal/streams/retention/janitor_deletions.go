package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// subjectsOf returns a crawl's subject in each stream whose messages belong to crawls.
func subjectsOf(crawl string) map[string]string {
	ofPartitions := "seine." + messages.AnyKind + "." + crawl + ".*"
	return map[string]string{
		messages.StreamSeeds: messages.SubjectSeeds(crawl), messages.StreamDead: messages.SubjectDead("*", crawl),
		messages.StreamURLs: ofPartitions, messages.StreamResults: ofPartitions, messages.StreamPages: ofPartitions, messages.StreamRecords: ofPartitions,
	}
}

// bucketMetaStream is the stream of BucketMeta's keys.
const bucketMetaStream = "KV_" + messages.BucketMeta

// DeletionNow describes a deletion of a crawl now: where the streams end.
func DeletionNow(ctx context.Context, b *stages.Bus, crawl string, spec *crawlspec.Spec) (messages.Deletion, error) {
	d := messages.Deletion{Time: time.Now().UTC(), Timeout: messages.Millis(spec.Largest().Timeout), Streams: make(map[string]messages.StreamEnd)}
	names := []string{bucketMetaStream}
	for name := range subjectsOf(crawl) {
		names = append(names, name)
	}
	for _, name := range names {
		s, err := b.JS.Stream(ctx, name)
		if err != nil {
			return d, fmt.Errorf("inspect stream %s: %w", name, err)
		}
		info := s.CachedInfo()
		d.Streams[name] = messages.StreamEnd{Created: info.Created, Sequence: info.State.LastSeq}
	}
	return d, nil
}

// Forget purges the messages of a deleted crawl from the streams, as far as all required readers
// have read them. It reports whether that is all. Records that were made but not written yet stay
// until they are.
func (j *Janitor) Forget(ctx context.Context, crawl string, d *messages.Deletion) (done bool, err error) {
	done = true
	for name, subject := range subjectsOf(crawl) {
		end, ok := d.Streams[name]
		if !ok {
			continue
		}
		all, err := j.forgetIn(ctx, name, subject, end)
		if err != nil {
			return false, err
		}
		done = done && all
	}
	return done, nil
}

func (j *Janitor) forgetIn(ctx context.Context, name, subject string, end messages.StreamEnd) (done bool, err error) {
	s, err := j.Bus.JS.Stream(ctx, name)
	if err != nil {
		return false, fmt.Errorf("inspect stream %s: %w", name, err)
	}
	info := s.CachedInfo()
	if !info.Created.Equal(end.Created) || info.State.FirstSeq > end.Sequence {
		return true, nil // all messages of that time are gone
	}
	upto, err := j.forgettable(ctx, info, end.Sequence)
	if err != nil {
		return false, err
	}
	if upto >= info.State.FirstSeq {
		err := s.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(upto+1))
		if err != nil {
			return false, fmt.Errorf("purge stream %s: %w", name, err)
		}
	}
	m, err := j.Bus.ReadFromLeader(ctx, name, jsclient.Lookup{Seq: upto + 1, Next: subject})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true, nil
	}
	return err == nil && m.Seq > end.Sequence, err
}

// forgettable returns the highest sequence of a stream, at most upto, that no reader needs any
// more.
func (j *Janitor) forgettable(ctx context.Context, info *jetstream.StreamInfo, upto uint64) (uint64, error) {
	consumers, kept := j.Streams[info.Config.Name]
	if !kept { // people read it and do not acknowledge
		return upto, nil
	}
	read, _, n, err := j.minAckFloor(ctx, info.Config.Name, info.State.LastSeq)
	if err != nil || n < consumers {
		return 0, err
	}
	return j.saved(ctx, info, min(upto, read))
}

// ForgetKeys purges the keys of a deleted crawl from the buckets. All partitions must have learnt
// of the deletion: keys of the crawl that they write later would stay.
func ForgetKeys(ctx context.Context, b *stages.Bus, crawl string, d *messages.Deletion) error {
	type keys struct {
		bucket, key string
		before      uint64 // revision; 0 means all
	}
	meta := d.Streams[bucketMetaStream].Sequence + 1
	all := []keys{
		{messages.BucketCrawls, crawl, d.Rev},
		{messages.BucketCrawls, messages.KeyFed(crawl), d.Rev},
		{messages.BucketMeta, messages.KeyAlerts(crawl), meta},
	}
	for n := d.Count - min(d.Count, d.Unfinished+1); n < d.Count; n++ {
		name := messages.Incarnation(crawl, n)
		all = append(all, keys{messages.BucketDuplicates, name + ".>", 0}, keys{messages.BucketMeta, messages.KeyBudget(name), 0})
	}
	for _, p := range all {
		s, err := b.JS.Stream(ctx, "KV_"+p.bucket)
		if err != nil {
			return fmt.Errorf("open bucket %s: %w", p.bucket, err)
		}
		which := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject("$KV." + p.bucket + "." + p.key)}
		if p.before > 0 {
			which = append(which, jetstream.WithPurgeSequence(p.before))
		}
		if err := s.Purge(ctx, which...); err != nil { // Delete would leave a permanent marker of each key
			return fmt.Errorf("purge bucket %s: %w", p.bucket, err)
		}
	}
	return nil
}
