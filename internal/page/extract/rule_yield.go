package extract

import (
	"fmt"
	"strings"
	"sync/atomic"

	"seine/internal/base/humanize"
)

// Yield counts the results of a record rule for all documents so far. A rule that finds nothing is
// not an error, since a page may lack such items. But authors want to know of a rule that never
// finds anything.
type Yield struct {
	Rule    string // such as "records[0]"
	Kind    string
	Pages   int64 // pages that the rule applies to, by its match, type and when
	Records int64
	// Nothing are the fields that never had a value because their selectors found nothing. Unfit
	// are the fields whose values could never be converted.
	Nothing, Unfit []string
	// Joined are two hosts from which the rule has made records with the same key.
	Joined []string
}

// Found counts the matches of the rules in the document: by rule and field the records with a
// value, and 1 for each follow rule with links.
func (res *Result) Found() map[string]int {
	found := make(map[string]int)
	for i := range res.Records {
		for _, m := range res.Records[i].fields {
			if list, ok := m.value.([]any); !ok || len(list) > 0 {
				found[res.Records[i].Rule+"."+m.name]++
			}
		}
	}
	for _, l := range res.Links {
		found[l.Rule] = 1
	}
	return found
}

// yieldCount counts the results of a rule.
type yieldCount struct {
	pages, records atomic.Int64
	told           atomic.Bool
}

// fieldCount records whether a field ever found anything, and whether it ever had a value.
type fieldCount struct{ seen, found atomic.Bool }

// note sets a flag. It writes only if needed, so that a flag that is already set causes no
// contention.
func note(flag *atomic.Bool) {
	if !flag.Load() {
		flag.Store(true)
	}
}

// toldAfter is the number of records of a rule after which its empty fields are reported.
const toldAfter = 100

// Yields returns the counts of the record rules so far, and the number of documents.
func (r *Rules) Yields() (all []Yield, pages int64) {
	for _, rule := range r.records {
		all = append(all, rule.yield())
	}
	return all, r.pages.Load()
}

func (rule *recordRule) yield() Yield {
	y := Yield{Rule: rule.path, Kind: rule.kind, Pages: rule.count.pages.Load(), Records: rule.count.records.Load(), Joined: rule.hosts.joinedBy(rule.path)}
	for _, f := range rule.fields {
		switch {
		case f.count.found.Load() || !f.isFound():
		case f.count.seen.Load():
			y.Unfit = append(y.Unfit, f.name)
		case f.fallback == "": // it may be missing, such as the anchor of a chunk
		default:
			y.Nothing = append(y.Nothing, f.name)
		}
	}
	return y
}

// newlyTold returns the rules that have made enough records to report fields that are empty in all
// of them, each once.
func (r *Rules) newlyTold() (all []Yield) {
	for _, rule := range r.records {
		if rule.count.records.Load() < toldAfter || rule.count.told.Swap(true) {
			continue
		}
		if y := rule.yield(); len(y.Nothing)+len(y.Unfit) > 0 {
			y.Joined = nil // reported immediately
			all = append(all, y)
		}
	}
	return all
}

// Minimum numbers for a verdict: pages of a later run of which a rule fits none, and records that
// all lack a field.
const (
	fewPages   = 10
	fewRecords = 3
)

// Trouble describes what is wrong with a rule that was applied to this number of documents. It
// returns "" if nothing is, or if the documents are too few to judge. A later run of a crawl does
// not know the documents of earlier runs.
func (y *Yield) Trouble(pages int64, later bool) string {
	switch {
	case y.Pages == 0 && (pages == 0 || later && pages < fewPages), 0 < y.Records && y.Records < fewRecords && len(y.Joined) == 0:
		return ""
	case y.Pages == 0:
		return fmt.Sprintf("fits none of %s: look at its match, type and when", humanize.Plural(pages, "page"))
	case y.Records == 0:
		return fmt.Sprintf("made no record of the %s that it fits: its selectors, or a required field, found nothing", humanize.Plural(y.Pages, "page"))
	}
	var parts []string
	if len(y.Nothing) > 0 {
		parts = append(parts, strings.Join(y.Nothing, ", ")+" found nothing")
	}
	if len(y.Unfit) > 0 {
		parts = append(parts, strings.Join(y.Unfit, ", ")+" found what is not of the type that it asks for")
	}
	if len(parts) > 0 {
		parts = []string{fmt.Sprintf("%s, in any of %d records", strings.Join(parts, "; "), y.Records)}
	}
	if len(y.Joined) > 0 {
		parts = append(parts, fmt.Sprintf("has one key for records of %s, which replace each other: if they are not the same thing, write {host} into the key",
			strings.Join(y.Joined, " and of ")))
	}
	return strings.Join(parts, "; ")
}
