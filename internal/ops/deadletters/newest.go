package deadletters

import (
	"context"
	"errors"
	"fmt"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// newestLooks bounds how many sequences Newest looks at for each letter that is
// wanted: many may have been redriven, or be of other crawls.
const newestLooks = 4

// Newest returns at most so many of the last letters that f chooses, the last
// first. It looks at the end of DEAD only, and so may find fewer than there are.
func Newest(ctx context.Context, bus *stages.Bus, f Filter, most int) (all []*DeadLetter, err error) {
	s, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return nil, fmt.Errorf("open DEAD: %w", err)
	}
	state := s.CachedInfo().State
	for seq, looks := state.LastSeq, most*newestLooks; seq >= max(1, state.FirstSeq) && looks > 0 && len(all) < most; seq-- {
		looks--
		l, err := Get(ctx, bus, seq)
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			return nil, err
		case f.Chooses(l):
			all = append(all, l)
		}
	}
	return all, nil
}
