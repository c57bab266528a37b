package crawlspec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"seine/pkg/messages"
)

// Traps are guards against sites without an end. Each URL that one of them
// keeps out is excluded with its reason. 0 turns a guard off.
type Traps struct {
	// MaxURLLength is in bytes.
	MaxURLLength int `json:"max_url_length"`
	// MaxPathDepth is the number of segments of the path.
	MaxPathDepth int `json:"max_path_depth"`
	// MaxRepeats is how often one segment, or a run of up to three, may follow
	// itself in a path: a link that lacks its first slash makes /a/b/a/b/a/b/…
	MaxRepeats int `json:"max_repeats"`
	// CalendarAhead and CalendarBack are how many years from today a date in a
	// URL may be.
	CalendarAhead int `json:"calendar_ahead"`
	CalendarBack  int `json:"calendar_back"`
	// MaxParameterSets is the largest number of sets of query parameter names of one path: filters of a shop
	// make a page for each combination. The same parameters in another order are never another page.
	MaxParameterSets int `json:"max_parameter_sets"`
	// MaxSameShape is how many URLs of one host may differ only in numbers and
	// codes.
	MaxSameShape int64 `json:"max_same_shape"`
	// SameContentAfter is after how many pages of one host and shape it counts
	// how many differ in their text: where fewer than one in ten do, no more are
	// fetched.
	SameContentAfter int64 `json:"same_content_after"`
}

// DefaultTraps returns guards that no ordinary site meets.
func DefaultTraps() Traps {
	return Traps{
		MaxURLLength: 1024, MaxPathDepth: 20, MaxRepeats: 3, CalendarAhead: 2, CalendarBack: 200,
		MaxParameterSets: 100, MaxSameShape: 1_000_000, SameContentAfter: 300,
	}
}

func (t *Traps) check() error {
	for _, g := range []struct {
		key string
		n   int64
	}{
		{"max_url_length", int64(t.MaxURLLength)}, {"max_path_depth", int64(t.MaxPathDepth)},
		{"max_repeats", int64(t.MaxRepeats)}, {"calendar_ahead", int64(t.CalendarAhead)},
		{"calendar_back", int64(t.CalendarBack)}, {"max_parameter_sets", int64(t.MaxParameterSets)},
		{"max_same_shape", t.MaxSameShape}, {"same_content_after", t.SameContentAfter},
	} {
		if g.n < 0 {
			return fmt.Errorf("traps: %s %d: must not be negative (0 is off)", g.key, g.n)
		}
	}
	return nil
}

// Normalize defines which further URLs are equal.
type Normalize struct {
	// DropTracking removes query parameters that only record where a visitor came from, such as utm_source and
	// gclid. DropSessions removes session ids, such as PHPSESSID and ;jsessionid=….
	DropTracking bool `json:"drop_tracking"`
	DropSessions bool `json:"drop_sessions"`
	// DropParameters removes further query parameters, by name; "ref_*" removes
	// those that start with "ref_".
	DropParameters []string `json:"drop_parameters,omitempty"`
	// SortQuery sorts the parameters of a query by name.
	SortQuery bool `json:"sort_query,omitempty"`
	// HashRoutes makes URLs that differ in a fragment like #/items or #!items separate pages, if a browser renders pages.
	HashRoutes bool `json:"hash_routes,omitempty"`
}

// DefaultNormalize drops tracking parameters and session ids.
func DefaultNormalize() Normalize { return Normalize{DropTracking: true, DropSessions: true} }

func (n *Normalize) check() error {
	for _, p := range n.DropParameters {
		if name := strings.TrimSuffix(p, "*"); p == "" || strings.ContainsAny(name, "*&=#?") {
			return fmt.Errorf(`normalize: drop_parameters: %q: must be a parameter's name, or its start and "*"`, p)
		}
	}
	return nil
}

// PriorityRule gives the URLs that match a pattern a priority, 0 (first) to 9.
type PriorityRule struct {
	Match    string `json:"match"`
	Priority int    `json:"priority"`
}

// RecrawlRule has the pages that match a pattern fetched again. Every is the
// interval; or it is found between Min and Max: it shrinks while a page
// changes, and grows while it does not.
type RecrawlRule struct {
	Match string   `json:"match"`
	Every Duration `json:"every,omitempty"`
	Min   Duration `json:"min,omitempty"`
	Max   Duration `json:"max,omitempty"`
}

func (r *RecrawlRule) check() error {
	_, err := CompilePattern(r.Match)
	switch {
	case err != nil:
		return fmt.Errorf("match: %w", err)
	case r.Every != 0 && (r.Min != 0 || r.Max != 0):
		return errors.New("every, or min and max, not both")
	case r.Every != 0 && r.Every < Duration(time.Second):
		return fmt.Errorf("every %s: must be at least 1s", r.Every)
	case r.Every == 0 && (r.Min < Duration(time.Second) || r.Max < r.Min):
		return fmt.Errorf("min %s, max %s: min must be at least 1s, and max no less", r.Min, r.Max)
	}
	return nil
}

func (c specCheck) checkRules() error {
	for i, r := range c.Priorities {
		if _, err := CompilePattern(r.Match); err != nil {
			return fmt.Errorf("priorities: number %d: match: %w", i+1, err)
		}
		if r.Priority < 0 || r.Priority > messages.MaxPriority {
			return fmt.Errorf("priorities: number %d: priority %d: must be from 0 (first) to %d", i+1, r.Priority, messages.MaxPriority)
		}
	}
	for i := range c.Recrawl {
		if err := c.Recrawl[i].check(); err != nil {
			return fmt.Errorf("recrawl: number %d: %w", i+1, err)
		}
	}
	next, err := c.NextRun(time.Unix(0, 0))
	switch {
	case err != nil:
		return fmt.Errorf("schedule: %w", err)
	case c.Schedule != "" && next.IsZero():
		return fmt.Errorf("schedule: %q: no such day", c.Schedule)
	}
	return nil
}
