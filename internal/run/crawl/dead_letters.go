package crawl

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// DeadLetters counts the dead letters of a crawl.
type DeadLetters struct {
	ByStage map[string]int64 `json:"by_stage"`
	Last    string           `json:"last,omitempty"` // reason of the newest dead letter
}

// deadLetters counts the crawl's dead letters on DEAD. It returns nil if there are none.
func (r report) deadLetters() *DeadLetters {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	stream, err := r.bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		r.Log.Warn("cannot count dead letters", "crawl", r.Crawl, "error", err)
		return nil
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(messages.SubjectDead("*", r.Crawl)))
	if err != nil || len(info.State.Subjects) == 0 {
		return nil
	}
	letters := &DeadLetters{ByStage: make(map[string]int64)}
	var newest uint64
	for subject, n := range info.State.Subjects {
		letters.ByStage[strings.Split(subject, ".")[2]] = int64(n)
		if m, err := stream.GetLastMsgForSubject(ctx, subject); err == nil && m.Sequence > newest {
			newest, letters.Last = m.Sequence, m.Header.Get(messages.HeaderDeadReason)
		}
	}
	return letters
}
