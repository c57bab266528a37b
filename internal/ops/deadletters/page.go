package deadletters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Bounds for reading DEAD, which may have a million letters.
const (
	pageWindow  = 500 // sequences read at a time, from the end backwards
	pageWindows = 20  // windows for one page
	pageTime    = 5 * time.Second
)

// Page is a page of the letters that a filter selects.
type Page struct {
	Letters []*DeadLetter // the newest first
	// Next is the position of the following page, 0 if there is none. A page may be empty although
	// others follow, because the search for it is bounded.
	Next uint64
}

// Before returns up to most of the letters before a sequence that f selects, the newest first. A
// sequence of 0 starts at the end.
func Before(ctx context.Context, bus *stages.Bus, f Filter, before uint64, most int) (p Page, err error) {
	s, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		return p, fmt.Errorf("open DEAD: %w", err)
	}
	state := s.CachedInfo().State
	end := state.LastSeq + 1
	if before > 0 {
		end = min(end, before)
	}
	first, began := max(state.FirstSeq, 1), time.Now()
	for n := 0; end > first && len(p.Letters) < most && n < pageWindows && time.Since(began) < pageTime; n++ {
		from := max(first, end-min(end, pageWindow))
		letters, err := window(ctx, bus, f, from, end)
		if err != nil {
			return p, err
		}
		slices.Reverse(letters)
		end = from
		for i, l := range letters {
			if !f.Since.IsZero() && l.Time.Before(f.Since) {
				return p, nil // so are all earlier ones
			}
			if p.Letters = append(p.Letters, l); len(p.Letters) == most && i < len(letters)-1 {
				end = l.Seq
				break
			}
		}
	}
	if end > first {
		p.Next = end
	}
	return p, nil
}

// Last returns the newest letters that f selects, up to most, the oldest first; all if most is 0.
func Last(ctx context.Context, bus *stages.Bus, f Filter, most int) (all []*DeadLetter, err error) {
	if most > 0 && f.Reason+f.Host == "" { // other filters may select few letters, so all are read
		p, err := Before(ctx, bus, f, 0, most)
		if err != nil || len(p.Letters) == most || p.Next == 0 {
			slices.Reverse(p.Letters)
			return p.Letters, err
		}
	}
	err = Each(ctx, bus, f, func(l *DeadLetter) error {
		if all = append(all, l); len(all) > most && most > 0 {
			all = all[1:]
		}
		return nil
	})
	return all, err
}

// window returns the letters with sequences in [from, end) that f selects, the oldest first.
func window(ctx context.Context, bus *stages.Bus, f Filter, from, end uint64) (all []*DeadLetter, err error) {
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from}
	err = each(ctx, bus, f, config, end, func(l *DeadLetter) error {
		all = append(all, l)
		return nil
	})
	return all, err
}

// Counts are numbers of letters, as the server counts them.
type Counts struct {
	Total   uint64            `json:"total"`
	ByStage map[string]uint64 `json:"by_stage,omitempty"`
	ByCrawl map[string]uint64 `json:"by_crawl,omitempty"`
	// Of counts the letters of a crawl by stage.
	Of   map[string]map[string]uint64 `json:"-"`
	Last uint64                       `json:"-"` // last sequence of DEAD
}

// Count counts the letters of a stage and a crawl, "" for all. It reads no letters.
func Count(ctx context.Context, bus *stages.Bus, f Filter) (c Counts, err error) {
	state, err := stages.Subjects(ctx, bus, messages.StreamDead, f.subject())
	c.ByStage, c.ByCrawl, c.Of = make(map[string]uint64), make(map[string]uint64), make(map[string]map[string]uint64)
	c.Last = state.LastSeq
	for subject, n := range state.Subjects {
		if tokens := strings.Split(subject, "."); len(tokens) == 4 {
			c.add(tokens[2], tokens[3], n)
		}
	}
	return c, err
}

func (c *Counts) add(stage, crawl string, n uint64) {
	c.Total += n
	c.ByStage[stage] += n
	c.ByCrawl[crawl] += n
	if c.Of[crawl] == nil {
		c.Of[crawl] = make(map[string]uint64)
	}
	c.Of[crawl][stage] += n
}
