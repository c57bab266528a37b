package main

import (
	"strings"
	"testing"

	"seine/pkg/messages"
)

func TestAURLComesOutOnce(t *testing.T) {
	w := testWeb(mixSite)
	req := func(i, attempt int, round uint64) *messages.Request {
		return &messages.Request{URL: w.url(i), Attempt: attempt, Visit: messages.Visit{URL: messages.HashURL(w.url(i)), Round: round}}
	}
	d := &drainCheck{testbed: &testbed{options: options{URLs: w.urls}}, web: w, out: make([]uint64, w.urls/64+1)}
	for _, c := range []struct {
		name       string
		i, attempt int
		round      uint64
		delivered  uint64
		wrong      string
		total      int
	}{
		{"first", 64, 1, 1, 1, "", 1},
		{"another in the same word", 65, 1, 1, 1, "", 2},
		{"delivered again by the broker", 64, 1, 1, 2, "", 2},
		{"sent again", 64, 1, 1, 1, "twice", 2},
		{"another attempt", 66, 2, 1, 1, "attempt 2", 2},
		{"another round", 66, 1, 2, 1, "visit", 2},
		{"the last", w.urls - 1, 1, 1, 1, "", 3},
	} {
		err := d.recordURL(c.i, req(c.i, c.attempt, c.round), c.delivered)
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.wrong)
		}
		if d.total() != c.total {
			t.Errorf("%s: %d have come out, want %d", c.name, d.total(), c.total)
		}
	}
	if text := d.missing(); !strings.Contains(text, w.url(0)) || strings.Contains(text, w.url(64)) {
		t.Errorf("missing: %s", text)
	}
}
