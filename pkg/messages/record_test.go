package messages

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// The kind is the value of the member with exactly that name, the last one of several.
func TestRecordKindIsTheMemberOfThatName(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"url":"x","kind":"product"}`:          "product",
		`{"kind":"product","Kind":"other_one"}`: "product",
		`{"Kind":"product","KIND":"x"}`:         KindPage,
		`{"kind":"a","kind":"b"}`:               "b",
		`{"\u006bind":"a"}`:                     "a",
		`{"kind":7}`:                            KindPage, `{"kind":"A"}`: "other", `{"kind":"`: KindPage,
	} {
		if got := RecordKind(nats.Header{}, []byte(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	own := nats.Header{HeaderRecord: {"1"}}
	if got := RecordKind(own, []byte(`{"kind":"product","url":"x","Kind":"y"}`)); got != "product" {
		t.Errorf("of Seine's own: %s", got)
	}
	if got := RecordKind(own, []byte(`{"url":"x","Kind":"y"}`)); got != KindPage {
		t.Errorf("of a page of Seine's own: %s", got)
	}
}
