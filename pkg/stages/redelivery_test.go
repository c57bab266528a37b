package stages

import (
	"testing"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// An error answer is not an answer to the claim: treating it as a denial would drop a request.
func TestClaimRequest_ErrorAnswered_AsksAgain(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	b.Layout.Partitions = 1
	answers := []string{`{"error": "cannot decode"}`, `{"retry": true}`, `{"granted": true}`}
	_, err := b.NC.Subscribe(messages.SubjectFrontier(messages.OpClaim, 0), func(m *nats.Msg) {
		_ = m.Respond([]byte(answers[0]))
		answers = answers[min(1, len(answers)-1):]
	})
	if err != nil {
		t.Fatal(err)
	}
	if granted, err := b.ClaimRequest(t.Context(), &messages.Request{URL: "https://example.org/"}, "me"); !granted || err != nil {
		t.Errorf("after an error and a wait it is granted: %v, %v", granted, err)
	}
}
