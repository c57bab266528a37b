package messages

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A permanent removal is reported; a possibly temporary one is not.
func TestOnlyAnswersForGoodSayThatAPageIsGone(t *testing.T) {
	t.Parallel()
	type answer struct {
		class  Class
		status int
	}
	for a, want := range map[answer]bool{
		{Gone, 404}: true, {Gone, 410}: true, {Redirect, 301}: true, {Redirect, 308}: true,
		{Redirect, 302}: false, {Redirect, 303}: false, {Redirect, 307}: false,
		{ClientError, 403}: false, {ServerError, 500}: false, {RobotsDenied, 0}: false, {OK, 200}: false, {NotModified, 304}: false,
	} {
		if got := IsGone(a.class, a.status); got != want {
			t.Errorf("%s %d: %t", a.class, a.status, got)
		}
	}
}

// The record of a page that is gone is accepted by writers, with its own kind.
func TestVisitRecordIsARecord(t *testing.T) {
	t.Parallel()
	const url = "https://example.org/p/1"
	r := VisitRecord{
		Kind: KindGone, URL: url, FetchedAt: time.Unix(1_800_000_000, 0).UTC(), Crawl: "c", Visit: Visit{HashURL(url), 2}, Status: 301, Class: Redirect, Location: "https://example.org/",
		Metadata: Metadata{"customer": "17"},
	}
	m := r.Msg(3)
	const want = `{"kind":"gone","url":"https://example.org/p/1","fetched_at":"2027-01-15T08:00:00.000000Z","crawl":"c",` +
		`"visit":"2d8e29b15dd992b646c95d9d24888144.2","run":0,"status":301,"class":"redirect","location":"https://example.org/","metadata":{"customer":"17"}}`
	if string(m.Data) != want || m.Subject != "seine.records.c.3" {
		t.Errorf("%s on %s, want %s", m.Data, m.Subject, want)
	}
	if id := m.Header.Get(nats.MsgIdHdr); id != "c.2d8e29b15dd992b646c95d9d24888144.2.gone.0" {
		t.Errorf("identity %s", id)
	}
	if err := CheckRecord(m.Header, m.Data); err != nil || RecordKind(m.Header, m.Data) != KindGone {
		t.Errorf("%v, of kind %s", err, RecordKind(m.Header, m.Data))
	}
}
