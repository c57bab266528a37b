package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
	"seine/pkg/stages/frontier/frontierapi"
)

// crawlState is the state of a crawl in one word, and a sentence about it.
type crawlState struct{ Word, Why string }

// Words beside those of overview.State.
const (
	scheduled = "scheduled"
	stopped   = "stopped"
	limited   = "limit reached"
	unknown   = "unknown"
	unasked   = "not looked at"
)

// allStates are all words, in the order in which lists offer them.
var allStates = []string{
	string(overview.Running), scheduled, string(overview.Paused), stopped, limited, string(frontierapi.Complete), string(overview.Cancelled),
	string(frontierapi.Empty), string(overview.Blocked), unknown, unasked,
}

func stateOf(c *overview.Crawl) crawlState {
	left := humanize.Plural(c.Pending(), "URL")
	switch {
	case c.Unasked:
		return crawlState{unasked, "Open it to have it looked at."}
	case c.Problem != "":
		return crawlState{unknown, c.Problem}
	case c.Stalled:
		return crawlState{string(overview.Blocked), "No revision of its spec can be used."}
	case c.State == overview.Paused:
		return crawlState{string(c.State), left + " left, none of which is fetched until it is resumed."}
	case c.State == overview.Cancelled:
		return crawlState{string(c.State), "Queued URLs are excluded; fetched pages are kept."}
	case c.End == frontierapi.Complete:
		return crawlState{string(c.End), strings.TrimSpace("Every URL has been visited. " + c.Why)}
	case c.End == frontierapi.Empty:
		return crawlState{string(c.End), "It has no URLs yet."}
	case c.End != frontierapi.NotEnded:
		return crawlState{limited, fmt.Sprintf("%s, with %s left.", limitOf(c), left)}
	case c.Idle && c.Pending() > 0:
		return crawlState{stopped, fmt.Sprintf("No process works on it, with %s left.", left)}
	case c.Pending() == 0 && !c.NextRun.IsZero():
		return crawlState{scheduled, "Every URL has been visited in this run."}
	}
	return crawlState{string(overview.Running), ""}
}

// limitOf says which limit ended a crawl, with its key in the spec.
func limitOf(c *overview.Crawl) string {
	spec := c.Spec
	if spec == nil {
		return "A limit of its spec has ended it"
	}
	switch c.End {
	case frontierapi.PagesLimit:
		return fmt.Sprintf("It has fetched as many pages as its spec allows (max_pages: %d)", spec.MaxPages)
	case frontierapi.BytesLimit:
		return fmt.Sprintf("It has fetched as many bytes as its spec allows (max_bytes: %s)", humanize.Size(int64(spec.MaxBytes)))
	case frontierapi.TimeLimit:
		return fmt.Sprintf("It has run for as long as its spec allows (max_duration: %s)", spec.MaxDuration)
	case frontierapi.NotEnded, frontierapi.Empty, frontierapi.Complete:
	}
	return ""
}

// Mark is the class of the mark that shows the word.
func (s crawlState) Mark() string { return strings.ReplaceAll(s.Word, " ", "-") }

// Ended reports whether nothing more happens by itself.
func (s crawlState) Ended() bool {
	return slices.Contains([]string{limited, string(frontierapi.Complete), string(overview.Cancelled), string(frontierapi.Empty)}, s.Word)
}

// May reports whether a verb of a form makes sense for a crawl in this state.
func (s crawlState) May(verb string) bool {
	switch s.Word {
	case string(overview.Running), scheduled, string(overview.Blocked), unknown:
		return verb != "resume"
	case string(overview.Paused), stopped:
		return verb != "pause"
	case string(overview.Cancelled):
		return verb == "resume"
	}
	return false
}

// tookOf is how long a crawl has run.
func tookOf(c *overview.Crawl) time.Duration {
	until := time.Now()
	if s := stateOf(c); c.Idle || s.Ended() || s.Word == scheduled || c.State == overview.Paused {
		until = moment(c.Changed)
	}
	if c.Started == 0 || until.Before(moment(c.Started)) {
		return 0
	}
	took := until.Sub(moment(c.Started))
	if took < 10*time.Second {
		return took.Round(time.Second / 10)
	}
	return took.Round(time.Second)
}

// calm is the time within which everything counts as happening now: rows that move with each poll cannot be read.
const calm = time.Minute

// byActivity sorts crawls by when something happened last, the newest first.
func byActivity(crawls []overview.Crawl, now time.Time) []overview.Crawl {
	latest := func(c *overview.Crawl) int64 { return min(c.Changed, now.Add(-calm).UnixMilli()) }
	sorted := slices.Clone(crawls)
	slices.SortStableFunc(sorted, func(a, b overview.Crawl) int {
		return cmp.Or(cmp.Compare(latest(&b), latest(&a)), cmp.Compare(b.Started, a.Started))
	})
	return sorted
}
