package main

import (
	"strings"
	"testing"
	"time"

	"seine/internal/run/crawl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Pages from before a crawl was resumed do not count for its rate.
func TestRateIsOfThisRun(t *testing.T) {
	var p progress
	for i, pages := range []int64{1000, 1010, 1020, 1030} {
		now := crawl.Progress{Elapsed: time.Duration(i) * time.Second}
		now.Pages = pages
		p.measure(&now)
	}
	if p.rate < 9.99 || p.rate > 10.01 {
		t.Errorf("%.1f pages a second, want 10", p.rate)
	}
}

// A paused crawl says so, and what to do.
func TestProgressTellsThatACrawlIsPaused(t *testing.T) {
	now := crawl.Progress{State: crawlspec.Paused}
	now.Queued = 13
	if got := new(progress).line(now); !strings.Contains(got, "13 queued") || !strings.HasSuffix(got, "paused: run seine resume to continue") {
		t.Errorf("it says %q", got)
	}
}

// A failing login, for example, is retried for minutes: the line says why nothing arrives.
func TestProgressShowsTheLastFailure(t *testing.T) {
	var now crawl.Progress
	now.InFlight = 1
	now.LastFailure = &frontierapi.RequestFailure{AtMS: time.Now().UnixMilli(), Class: messages.Timeout, Error: "rendering: the login failed"}
	if got := new(progress).line(now); !strings.HasSuffix(got, "retrying after timeout: rendering: the login failed") {
		t.Errorf("got %q", got)
	}
	now.LastFailure.AtMS -= 2 * time.Minute.Milliseconds()
	if got := new(progress).line(now); strings.Contains(got, "retrying") {
		t.Errorf("an old failure is shown: %q", got)
	}
}

func TestProgressShowsFailedLogins(t *testing.T) {
	var now crawl.Progress
	if got := new(progress).line(now); strings.Contains(got, "login") {
		t.Errorf("without one it says %q", got)
	}
	now.FailedLogins = 2
	if got := new(progress).line(now); !strings.HasSuffix(got, "2 logins failed: check render.login") {
		t.Errorf("it says %q", got)
	}
}

func TestTimeToGoIsThatOfWhatIsKnown(t *testing.T) {
	for _, tt := range []struct {
		queued, pages, most int64
		want                string
		longest             time.Duration
	}{
		{20, 10, 0, "  10s to go, if nothing more is found", 9 * time.Second},
		{20, 10, 0, "  1m0s to go, if nothing more is found", time.Minute}, // on one host
		{20, 10, 500, "  10s to go, if nothing more is found", 0},
		{20, 10, 16, "  3s to go", time.Minute},
		{0, 10, 500, "", 0},
		{20, 16, 16, "", 0}, // it is about to end
	} {
		now := crawl.Progress{MaxPages: tt.most, Longest: tt.longest}
		now.Queued, now.Pages = tt.queued, tt.pages
		p := progress{rate: 2}
		if got := p.toGo(now); got != tt.want {
			t.Errorf("%d queued, %d of %d pages: %q, want %q", tt.queued, tt.pages, tt.most, got, tt.want)
		}
	}
}
