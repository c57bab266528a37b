package frontier

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/frontier/state"
	"seine/internal/streams/partition"
	"seine/internal/streams/retention"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// run runs a complete frontier until stop is called.
func (t *takeoverFixture) run(s *state.Store, snapshotEvery time.Duration) (stop func()) {
	t.t.Helper()
	f := t.frontier(s, snapshotEvery)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.t.Errorf("frontier: %v", err)
		}
		done <- nil
	}
	t.t.Cleanup(stop)
	return stop
}

// subjectsLeft returns the subjects of a crawl in all streams except FETCH, where fetchers drop its
// requests.
func (t *takeoverFixture) subjectsLeft(crawl string) (left []string) {
	t.t.Helper()
	for _, name := range []string{
		messages.StreamSeeds, messages.StreamURLs, messages.StreamResults, messages.StreamPages, messages.StreamRecords,
		messages.StreamDead, "KV_" + messages.BucketMeta, "KV_" + messages.BucketDuplicates, "KV_" + messages.BucketCrawls,
	} {
		s, err := t.bus.JS.Stream(t.t.Context(), name)
		t.must(err)
		info, err := s.Info(t.t.Context(), jetstream.WithSubjectFilter(">"))
		t.must(err)
		for subject := range info.State.Subjects {
			if of(subject, crawl) {
				left = append(left, subject)
			}
		}
	}
	return left
}

// of reports whether a subject names a crawl, other than that of its deletion.
func of(subject, crawl string) bool {
	switch subject {
	case "$KV." + messages.BucketCrawls + "." + messages.KeyDeletion(crawl):
		return false
	case "$KV." + messages.BucketCrawls + "." + crawl, "$KV." + messages.BucketMeta + "." + messages.KeyBudget(crawl),
		"$KV." + messages.BucketMeta + "." + messages.KeyAlerts(crawl), "$KV." + messages.BucketDuplicates + "." + crawl + ".exact.1":
		return true
	}
	return messages.CrawlOf(subject) == crawl
}

// Deleting a crawl leaves nothing of it in streams and buckets, keeps messages until a writer has
// read them, does not affect other crawls, and allows a new crawl with the name.
func TestDeletionLeavesNothingInStreamsAndBuckets(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	spec := crawlspec.Default()
	spec.MaxPages, spec.Delay = 10, 0
	for _, crawl := range []string{"c", "d"} {
		_, err := a.specs.Put(t.Context(), crawl, &spec)
		a.must(err)
		a.publish(messages.SubjectPages(crawl, 0), "", nil)
		a.publish(messages.SubjectRecords(crawl, 0), "", nil)
		a.publish(messages.SubjectDead(messages.StageParser, crawl), "", nil)
		a.publish(messages.SubjectSeeds(crawl), "", []byte("https://"+crawl+".test/"))
		_, err = bucketOf(t, a.bus, messages.BucketDuplicates).Put(t.Context(), crawl+".exact.1", nil)
		a.must(err)
		_, err = bucketOf(t, a.bus, messages.BucketMeta).Put(t.Context(), messages.KeyAlerts(crawl), []byte("{}"))
		a.must(err)
	}
	read := func(stream, kind, name string, p int) jetstream.Consumer {
		c, err := a.bus.JS.CreateOrUpdateConsumer(t.Context(), stream, messages.PartitionConsumer(name, kind, p))
		a.must(err)
		return c
	}
	a.ackAll(read(messages.StreamPages, "pages", messages.ConsumerParse, 0))
	slow := read(messages.StreamRecords, "records", messages.ConsumerWriter, 0)
	read(messages.StreamRecords, "records", messages.ConsumerWriter, 1)
	store := a.store()
	a.run(store, 0)
	client := frontierapi.Client{Bus: a.bus}
	taken := 0
	a.eventually("both are fetched", func() bool { taken += len(a.takeRequests(2)); return taken == 2 })
	others := len(a.subjectsLeft("d"))

	rev, err := client.Delete(t.Context(), "c")
	a.must(err)
	a.eventually("partitions and buckets have forgotten it", func() bool {
		left := a.subjectsLeft("c")
		return len(left) == 1 && left[0] == messages.SubjectRecords("c", 0)
	})
	if d := a.specs.Deletion("c"); d == nil || d.Done {
		t.Errorf("the deletion, while a record waits for its writer: %+v", d)
	}
	a.ackAll(slow)
	a.eventually("removed all data", func() bool { d := a.specs.Deletion("c"); return d.Done && d.Rev == rev })
	if left := a.subjectsLeft("c"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if now := len(a.subjectsLeft("d")); now != others {
		t.Errorf("the other crawl had %d subjects, and has %d", others, now)
	}
	if st, err := client.Status(t.Context(), "d"); err != nil || st.InFlight != 1 {
		t.Errorf("the other crawl: %+v, %v", st, err)
	}

	// The same seed again. Its host's delay comes first: see TestHostRestsAfterItsCrawlWasDeleted.
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://c.test/\nhttps://two.example/"))
	var fresh []*messages.Request
	a.eventually("a new crawl of the name begins", func() bool {
		fresh = append(fresh, a.takeRequests(1)...)
		return len(fresh) > 0
	})
	if r := fresh[0]; r.Crawl != "c" || r.Rev < rev || r.Visit.Round != messages.FirstRound(0, 1) {
		t.Errorf("request %+v after the deletion at revision %d", r, rev)
	}
	// The other seed belongs to another partition, which may read it later.
	a.eventually("the new crawl knows both seeds", func() bool {
		st, err := client.Status(t.Context(), "c")
		return err == nil && st.Known() == 2
	})
}

// The streams keep messages that are in no snapshot: a deletion does not wait until the next one is
// due.
func TestDeletionMakesASnapshotSoon(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	for p := range 2 {
		_, err := a.bus.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamPages, messages.PartitionConsumer(messages.ConsumerParse, "pages", p))
		a.must(err)
	}
	a.run(a.store(), time.Hour)
	snapshots := partition.NewSnapshots(a.bus)
	a.eventually("each partition has its first snapshot", func() bool {
		_, zero, err := snapshots.Newest(t.Context(), 0)
		a.must(err)
		_, one, err := snapshots.Newest(t.Context(), 1)
		a.must(err)
		return zero && one
	})
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://c.test/"))
	a.eventually("it is fetched", func() bool { return len(a.takeRequests(1)) == 1 })
	client := frontierapi.Client{Bus: a.bus}
	rev, err := client.Delete(t.Context(), "c")
	a.must(err)
	a.eventually("removed all data", func() bool { d := a.specs.Deletion("c"); return d != nil && d.Done && d.Rev == rev })
	if left := a.subjectsLeft("c"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// ackAll reads and acknowledges all messages of a consumer.
func (t *takeoverFixture) ackAll(c jetstream.Consumer) {
	t.t.Helper()
	batch, err := c.FetchNoWait(100)
	t.must(err)
	for m := range batch.Messages() {
		t.must(m.DoubleAck(t.t.Context()))
	}
	t.must(batch.Error())
}

// takeRequests removes up to most requests from FETCH.
func (t *takeoverFixture) takeRequests(most int) (reqs []*messages.Request) {
	t.t.Helper()
	batch, err := t.fetch.Fetch(most, jetstream.FetchMaxWait(50*time.Millisecond))
	t.must(err)
	for m := range batch.Messages() {
		req, err := messages.DecodeRequest(m.Data())
		t.must(err)
		t.must(m.DoubleAck(t.t.Context()))
		reqs = append(reqs, req)
	}
	return reqs
}

// A seed that was submitted before the deletion and read after it belongs to the deleted crawl.
func TestUnreadSeedsAreDeletedWithTheirCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://before.test/"))
	d, err := retention.DeletionNow(t.Context(), a.bus, "c", new(crawlspec.Default()))
	a.must(err)
	_, err = a.specs.Deletions.Delete(t.Context(), "c", d)
	a.must(err)
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://after.test/"))
	a.run(a.store(), 0)
	var urls []string
	a.eventually("a seed is sent", func() bool {
		for _, r := range a.takeRequests(10) {
			urls = append(urls, r.URL)
		}
		return len(urls) > 0
	})
	if len(urls) != 1 || urls[0] != "https://after.test/" {
		t.Errorf("sent %q", urls)
	}
}

// A frontier that was absent when its crawl was deleted learns of the deletion.
func TestFrontierThatWasAwayForgetsTheCrawl(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	store := a.store()
	stop := a.run(store, 0)
	a.publish(messages.SubjectSeeds("c"), "", []byte("https://one.test/\nhttps://two.test/"))
	a.eventually("it is fetched", func() bool { return len(a.takeRequests(10)) > 0 })
	stop()
	d, err := retention.DeletionNow(t.Context(), a.bus, "c", new(crawlspec.Default()))
	a.must(err)
	done, err := a.specs.Deletions.Delete(t.Context(), "c", d)
	a.must(err)
	a.run(store, 0)
	client := frontierapi.Client{Bus: a.bus}
	a.eventually("it has forgotten the crawl", func() bool {
		left, err := client.Remaining(t.Context(), "c", done.Rev)
		if err != nil && !errors.Is(err, frontierapi.ErrUnanswered) {
			t.Fatal(err)
		}
		return err == nil && left == 0
	})
	if st, err := client.Status(t.Context(), "c"); err != nil || st.Known() != 0 {
		t.Errorf("it knows %+v, %v", st, err)
	}
	if keys := a.dump(store, []byte("CcUQRIEAVBrFGOWZ")...); len(keys) > 0 {
		t.Errorf("its store has %q", keys)
	}
}

// A deletion also completes the purges of an earlier unfinished one.
func TestDeletionPurgesWhatOnesBeforeItHaveLeft(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	kv := bucketOf(t, a.bus, messages.BucketDuplicates)
	var last *messages.Deletion
	for n := range uint32(4) {
		_, err := kv.Put(t.Context(), messages.Incarnation("c", n)+".exact.1", nil)
		a.must(err)
		d, err := retention.DeletionNow(t.Context(), a.bus, "c", new(crawlspec.Default()))
		a.must(err)
		last, err = a.specs.Deletions.Delete(t.Context(), "c", d)
		a.must(err)
		if n == 0 { // that one ends, though something came late
			a.must(a.specs.Deletions.Done(t.Context(), "c", last))
		}
	}
	a.must(retention.ForgetKeys(t.Context(), a.bus, "c", last))
	lister, err := kv.ListKeys(t.Context())
	a.must(err)
	var left []string
	for key := range lister.Keys() {
		left = append(left, key)
	}
	if len(left) != 1 || left[0] != "c.exact.1" {
		t.Errorf("left: %q", left)
	}
}
