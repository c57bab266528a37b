package stages

import (
	"testing"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// What is no answer to the question is none: who took it for a no would drop a request.
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

// A frontier of the release before knows the old names alone.
func TestClaimRequest_FrontierOfTheReleaseBefore_Understands(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	b.Layout.Partitions = 1
	for answer, want := range map[string]bool{`{"wanted": true}`: true, `{"wanted": false}`: false} {
		answers := []string{`{"wanted": false, "behind": true}`, answer}
		frontier, err := b.NC.Subscribe("seine.frontier.wanted.0", func(m *nats.Msg) {
			if m.Header.Get("Seine-Asker") == "me" {
				_ = m.Respond([]byte(answers[0]))
				answers = answers[min(1, len(answers)-1):]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if granted, err := b.ClaimRequest(t.Context(), &messages.Request{URL: "https://example.org/"}, "me"); granted != want || err != nil {
			t.Errorf("%s: granted %v, %v; want %v", answer, granted, err, want)
		}
		if err := frontier.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}
