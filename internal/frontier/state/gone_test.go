package state

import (
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A request says that its page has records, until a record has reported the page as gone. A page
// that returns is fetched completely, as its records must be made again.
func TestRequestIsRecordedUntilThePageIsReportedGone(t *testing.T) {
	t.Parallel()
	const u, digest = "https://a.test/", "0011223344556677"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: 3600 * second}}
		s.Duplicates.Unchanged = crawlspec.UnchangedDrop
		s.Gone = crawlspec.WhenGoneRecord
	})
	w.seed(u)
	for n, visit := range []struct {
		class              messages.Class
		products           int64
		recorded, validate bool // as the request says
	}{
		{messages.OK, 0, false, false},
		{messages.OK, 2, false, true}, // it has no records so far
		{messages.ServerError, 0, true, true},
		{messages.NotModified, 0, true, true},
		{messages.OK, 0, true, true}, // nothing has reported that its records are no longer valid
		{messages.Gone, 0, true, true},
		{messages.Gone, 0, false, false},
		{messages.ServerError, 0, false, false},
		{messages.OK, 1, false, false},
		{messages.Redirect, 0, true, true},
		{messages.OK, 1, false, false},
	} {
		w.pass(100 * time.Hour)
		w.wantSent(w.dispatch(10), u)
		req := w.part.urls.inFlight[urlID{"c", messages.HashURL(u)}]
		m, err := w.part.Requests.Message(req)
		w.must(err)
		if m.Recorded != visit.recorded || (m.ETag != "") != visit.validate || (m.Digest != "") != visit.recorded {
			t.Errorf("visit %d, to be %s: the request has recorded %t, etag %q, digest %q", n+1, visit.class, m.Recorded, m.ETag, m.Digest)
		}
		if visit.class == messages.OK {
			end := w.endOf(req, visit.products)
			w.result(u, func(r *messages.Result) { r.Run, r.Digest, r.ETag = req.SentRun, digest+digest, `"e"` })
			_, err := w.part.ApplyCandidates(end, 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
			continue
		}
		w.result(u, func(r *messages.Result) {
			if r.Class = visit.class; visit.class == messages.Redirect {
				r.Status = 301
			}
			r.GoneRecord = m.Recorded && messages.IsGone(r.Class, r.Status)
		})
	}
}

// If a fetcher reports no gone page, the page's records stay noted: under another spec, the next
// visit may report it.
func TestPageThatIsGoneStaysRecordedUntilThatIsReported(t *testing.T) {
	t.Parallel()
	const u = "https://a.test/"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: 3600 * second}} })
	w.seed(u)
	w.wantSent(w.dispatch(10), u)
	w.fetched(u, "0011223344556677", 3)
	for n, want := range []bool{true, true, false} {
		w.pass(100 * time.Hour)
		w.wantSent(w.dispatch(10), u)
		m, err := w.part.Requests.Message(w.part.urls.inFlight[urlID{"c", messages.HashURL(u)}])
		w.must(err)
		if m.Recorded != want {
			t.Errorf("visit %d: the request has recorded %t, want %t", n, m.Recorded, want)
		}
		w.result(u, func(r *messages.Result) { r.Class, r.Status, r.GoneRecord = messages.Gone, 404, n == 1 })
	}
}
