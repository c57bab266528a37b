package state

import (
	"strings"

	"seine/internal/base/truncate"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

const (
	maxExampleURL = 512 // longer URLs are skipped, as others will follow
	maxExampleWhy = 256
)

func examplesOf(x *frontierapi.Examples, r *urlRecord) *map[string]frontierapi.Example {
	switch {
	case r.State == Failed:
		return &x.Failures
	case r.State == Excluded:
		return &x.Exclusions
	case r.isLeftOut():
		return &x.LeftOut
	default:
		return nil
	}
}

// forgetExample removes the example of a URL that is about to leave its state.
func forgetExample(x *frontierapi.Examples, r *urlRecord) {
	if all := examplesOf(x, r); all != nil && (*all)[r.endedBy()].URL == r.URL {
		delete(*all, r.endedBy())
	}
}

// addExample adds the URL as an example of its new state and reason, unless that has one.
func addExample(x *frontierapi.Examples, r *urlRecord) {
	all := examplesOf(x, r)
	if all == nil || len(r.URL) > maxExampleURL {
		return
	}
	why := r.endedBy()
	if _, has := (*all)[why]; has {
		return
	}
	e := frontierapi.Example{URL: r.URL}
	if r.State != Excluded && r.Reason != why {
		e.Why = truncate.To(strings.TrimPrefix(r.Reason, leftOutMark), maxExampleWhy)
	}
	if *all == nil {
		*all = make(map[string]frontierapi.Example)
	}
	(*all)[why] = e
}

// endedBy returns the reason under which a URL without a page, or without a record of its page, is
// counted; "" for other URLs.
func (r *urlRecord) endedBy() string {
	switch {
	case r.State == Excluded:
		return r.Reason
	case r.isLeftOut():
		return messages.LeftOutReason(strings.TrimPrefix(r.Reason, leftOutMark))
	}
	return r.failedBy()
}
