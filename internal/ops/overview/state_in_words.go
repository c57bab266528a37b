package overview

import (
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/pkg/stages/frontier/frontierapi"
)

// StateInWords is the state of a crawl for users: a word and an explanation.
type StateInWords struct{ Word, Why string }

// Words in addition to those of State.
const (
	Scheduled = "scheduled"
	stopped   = "stopped"
	limited   = "limit reached"
	unknown   = "unknown"
	unasked   = "not looked at"
)

// AllStateWords lists all words in the order of menus.
var AllStateWords = []string{
	string(Running), Scheduled, string(Paused), stopped, limited, string(frontierapi.Complete), string(Cancelled),
	string(frontierapi.Empty), string(Blocked), string(Deleting), unknown, unasked,
}

// StateInWords returns the state of the crawl for users.
func (c *Crawl) StateInWords() StateInWords {
	left := humanize.Plural(c.Pending(), "URL")
	switch {
	case c.Unasked:
		return StateInWords{unasked, "Open it to see its state."}
	case c.Problem != "":
		return StateInWords{unknown, c.Problem}
	case c.State == Deleting:
		return StateInWords{string(Deleting), "Its URLs and stored pages are being deleted; its output is kept."}
	case c.Stalled:
		return StateInWords{string(Blocked), "No revision of its spec can be used."}
	case c.State == Paused:
		return StateInWords{string(c.State), left + " left; no request is sent until it is resumed."}
	case c.State == Cancelled:
		return StateInWords{string(c.State), "Queued URLs are excluded; fetched pages are kept."}
	case c.End == frontierapi.Complete:
		return StateInWords{string(c.End), strings.TrimSpace("No URL is left to fetch. " + c.Why)}
	case c.End == frontierapi.Empty:
		return StateInWords{string(c.End), "It has no URLs yet."}
	case c.End != frontierapi.NotEnded:
		return StateInWords{limited, fmt.Sprintf("%s, with %s left.", c.limit(), left)}
	case c.Idle && (c.Pending() > 0 || c.NextRun.IsZero()):
		return StateInWords{stopped, fmt.Sprintf("No process works on it, with %s left.", left)}
	case c.Pending() == 0 && !c.NextRun.IsZero():
		return StateInWords{Scheduled, "No URL is left to fetch in this run."}
	}
	return StateInWords{string(Running), ""}
}

// limit describes the limit that ended a crawl, with its key in the spec.
func (c *Crawl) limit() string {
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

// Mark returns the CSS class for the word.
func (s StateInWords) Mark() string { return strings.ReplaceAll(s.Word, " ", "-") }

// Ended reports whether the crawl will do nothing without a command.
func (s StateInWords) Ended() bool {
	return slices.Contains([]string{limited, string(frontierapi.Complete), string(Cancelled), string(frontierapi.Empty)}, s.Word)
}

// May reports whether a verb, such as "pause", applies to a crawl in this state.
func (s StateInWords) May(verb string) bool {
	switch s.Word {
	case string(Running), Scheduled, string(Blocked), unknown:
		return verb != "resume"
	case string(Paused), stopped:
		return verb != "pause"
	case string(Cancelled):
		return verb == "resume"
	}
	return false
}
