package overview

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/ops/deadletters"
	"seine/pkg/messages"
)

// readDead counts the dead letters by stage, and of each crawl by stage, and reads the last ones if there
// are others than at the last look.
func (r *Reader) readDead(ctx context.Context, o *Overview, byStage map[string]uint64, ofCrawl map[string]map[string]uint64) error {
	s, err := r.Bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", messages.StreamDead, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(messages.SubjectDead("*", cmp.Or(r.Crawl, "*"))))
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", messages.StreamDead, err)
	}
	for subject, n := range info.State.Subjects {
		o.Dead += n
		if tokens := strings.Split(subject, "."); len(tokens) == 4 {
			byStage[tokens[2]] += n
			if ofCrawl[tokens[3]] == nil {
				ofCrawl[tokens[3]] = make(map[string]uint64)
			}
			ofCrawl[tokens[3]][tokens[2]] += n
		}
	}
	if r.Letters > 0 && (info.State.LastSeq != r.lastSeq || int(min(o.Dead, uint64(r.Letters))) != len(r.letters)) {
		r.letters, err = deadletters.Newest(ctx, r.Bus, deadletters.Filter{Crawl: r.Crawl}, r.Letters)
		if err != nil {
			return err
		}
		r.lastSeq = info.State.LastSeq
	}
	o.DeadLast = r.letters
	return nil
}
