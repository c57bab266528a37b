package frontier

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// oldClaimReply is the answer as fetchers of the release before read it.
type oldClaimReply struct {
	Error  string `json:"error"`
	Wanted bool   `json:"wanted"`
	Behind bool   `json:"behind"`
}

// Fetchers of the release before, of this one and of the next may hold the same request: one at a time is granted it.
func TestClaim_FetchersOfThreeReleases_OneAtATimeIsGranted(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.own(a.store(), 1, time.Hour)
	a.seed("http://" + hosts(1)[0] + "/")
	req := a.take(1)[0].Request
	ask := func(op, header, claimant string) (text []byte) {
		t.Helper()
		a.eventually("the frontier answers", func() bool {
			q := nats.NewMsg("seine.frontier." + op + ".0")
			q.Header.Set(header, claimant)
			q.Data = req.Encode()
			m, err := a.bus.NC.RequestMsg(q, time.Second)
			if err == nil {
				text = m.Data
			}
			return err == nil
		})
		return text
	}
	old := func(claimant string) (r oldClaimReply) {
		t.Helper()
		a.must(jsontext.Unmarshal(ask("wanted", "Seine-Asker", claimant), &r))
		return r
	}
	now := func(claimant string) (r messages.ClaimReply) {
		t.Helper()
		a.must(jsontext.Unmarshal(ask("claim", "Seine-Claimant", claimant), &r))
		return r
	}

	if r := old("one"); r != (oldClaimReply{Wanted: true}) {
		t.Errorf("the first is told %+v", r)
	}
	if r := now("two"); r != (messages.ClaimReply{Retry: true}) {
		t.Errorf("another is told %+v", r)
	}
	if r := old("two"); r != (oldClaimReply{Behind: true}) {
		t.Errorf("another, by the old names, is told %+v", r)
	}
	if r := now("one"); r != (messages.ClaimReply{Granted: true}) {
		t.Errorf("the first, which asks again, is told %+v", r)
	}
	if granted, err := a.bus.ClaimRequest(t.Context(), req, "one"); !granted || err != nil {
		t.Errorf("the first, as a fetcher asks: granted %v, %v", granted, err)
	}
}
