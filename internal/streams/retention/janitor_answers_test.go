package retention

import (
	"testing"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Responses that are not pages stay until an archive writer has read them. The parser, which does
// not read them, does not keep them.
func TestJanitorTakesAnswersThatWereRead(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	j := janitorOf(b, 2)
	j.Streams = map[string]int{messages.StreamPages: 2}
	purge := func() uint64 {
		t.Helper()
		if _, err := j.clean(t.Context(), messages.StreamPages, 2); err != nil {
			t.Fatal(err)
		}
		return natstest.State(t, b.JS, messages.StreamPages).FirstSeq
	}
	parser, err := b.JS.CreateConsumer(t.Context(), messages.StreamPages, messages.WorkConsumer(messages.ConsumerParse, "seine.pages.*.*", 10))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := b.JS.CreateConsumer(t.Context(), messages.StreamPages,
		messages.PartitionConsumer(messages.ConsumerWriter+"-archive", messages.AnyKind, 0))
	if err != nil {
		t.Fatal(err)
	}
	natstest.Send(t, b.JS, messages.SubjectPages("c", 0), 2)
	natstest.Send(t, b.JS, messages.SubjectAnswers("c", 0), 3)
	read(t, parser, 2)
	read(t, archive, 4)
	if first := purge(); first != 5 {
		t.Errorf("starts at %d, the archive has up to 4", first)
	}
	read(t, archive, 1)
	if first := purge(); first != 6 {
		t.Errorf("starts at %d, all was read up to 5", first)
	}
}

// The responses of a deleted crawl are removed; those of others stay.
func TestAnswersOfADeletedCrawlGo(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	for _, crawl := range []string{"c", "other"} {
		natstest.Send(t, b.JS, messages.SubjectPages(crawl, 0), 1)
		natstest.Send(t, b.JS, messages.SubjectAnswers(crawl, 3), 2)
	}
	spec := crawlspec.Default()
	d, err := DeletionNow(t.Context(), b, "c", &spec)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJanitor(b)
	j.Streams = nil // nobody reads here
	if done, err := j.Forget(t.Context(), "c", &d); err != nil || !done {
		t.Errorf("done: %t, %v", done, err)
	}
	if n := natstest.State(t, b.JS, messages.StreamPages).Msgs; n != 3 {
		t.Errorf("%d messages are left, want those of the other crawl, 3", n)
	}
}
