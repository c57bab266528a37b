package crawlspec

import (
	"fmt"
	"strings"
	"time"
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

// DefaultTraps returns guards that no ordinary site triggers.
func DefaultTraps() Traps {
	return Traps{
		MaxURLLength: 1024, MaxPathDepth: 20, MaxRepeats: 3, CalendarAhead: 2, CalendarBack: 200,
		MaxParameterSets: 100, MaxSameShape: 1_000_000, SameContentAfter: 300,
	}
}

func (t *Traps) check(p *Problems) {
	const off = "0 is off"
	notNegative(p, "traps.max_url_length", t.MaxURLLength, off)
	notNegative(p, "traps.max_path_depth", t.MaxPathDepth, off)
	notNegative(p, "traps.max_repeats", t.MaxRepeats, off)
	notNegative(p, "traps.calendar_ahead", t.CalendarAhead, off)
	notNegative(p, "traps.calendar_back", t.CalendarBack, off)
	notNegative(p, "traps.max_parameter_sets", t.MaxParameterSets, off)
	notNegative(p, "traps.max_same_shape", t.MaxSameShape, off)
	notNegative(p, "traps.same_content_after", t.SameContentAfter, off)
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

func (n *Normalize) check(p *Problems) {
	for i, name := range n.DropParameters {
		if start := strings.TrimSuffix(name, "*"); name == "" || strings.ContainsAny(start, "*&=#?") {
			p.Addf(fmt.Sprintf("normalize.drop_parameters[%d]", i), `%q: must be a parameter's name, or its start and "*"`, name)
		}
	}
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

func (r *RecrawlRule) check(p *Problems, path string) {
	p.pattern(path+".match", r.Match)
	switch {
	case r.Every != 0 && (r.Min != 0 || r.Max != 0):
		p.Addf(path, "every, or min and max, not both")
	case r.Every != 0 && r.Every < Duration(time.Second):
		p.Addf(path+".every", "%s: must be at least 1s", r.Every)
	case r.Every == 0 && (r.Min < Duration(time.Second) || r.Max < r.Min):
		p.Addf(path, "min %s, max %s: min must be at least 1s, and max no less", r.Min, r.Max)
	}
}

// checkLists reports errors of the members of lists.
func (c specCheck) checkLists(p *Problems) {
	for i := range c.Seeds {
		c.Seeds[i].check(p, fmt.Sprintf("seeds[%d]", i))
	}
	for i, r := range c.Priorities {
		path := fmt.Sprintf("priorities[%d]", i)
		p.pattern(path+".match", r.Match)
		p.priority(path+".priority", r.Priority)
	}
	for i := range c.Recrawl {
		c.Recrawl[i].check(p, fmt.Sprintf("recrawl[%d]", i))
	}
	for i := range c.Requests {
		c.Requests[i].check(p, fmt.Sprintf("requests[%d]", i))
	}
}

func (c specCheck) checkSchedule(p *Problems) {
	switch next, err := c.NextRun(time.Unix(0, 0)); {
	case err != nil:
		p.Add("schedule", err)
	case c.Schedule != "" && next.IsZero():
		p.Addf("schedule", "%q: no such day", c.Schedule)
	}
}
