package frontier

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// Several fetchers may hold the same request: it is granted to one at a time.
func TestClaim_SeveralClaimants_OneIsGranted(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	a.own(a.store(), 1, time.Hour)
	a.seed("http://" + hosts(1)[0] + "/")
	req := a.take(1)[0].Request
	claim := func(claimant string) (r messages.ClaimReply) {
		t.Helper()
		a.eventually("the frontier answers", func() bool {
			q := nats.NewMsg(messages.SubjectFrontier(messages.OpClaim, 0))
			q.Header.Set(messages.HeaderClaimant, claimant)
			q.Data = req.Encode()
			m, err := a.bus.NC.RequestMsg(q, time.Second)
			if err == nil {
				a.must(jsontext.Unmarshal(m.Data, &r))
			}
			return err == nil
		})
		return r
	}
	for _, c := range []struct {
		claimant string
		want     messages.ClaimReply
	}{
		{"one", messages.ClaimReply{Granted: true}},
		{"two", messages.ClaimReply{Retry: true}},
		{"one", messages.ClaimReply{Granted: true}},
	} {
		if r := claim(c.claimant); r != c.want {
			t.Errorf("claimant %s gets %+v, want %+v", c.claimant, r, c.want)
		}
	}
	if granted, err := a.bus.ClaimRequest(t.Context(), req, "one"); !granted || err != nil {
		t.Errorf("the first, as a fetcher claims: granted %v, %v", granted, err)
	}
}
