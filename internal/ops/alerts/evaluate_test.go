package alerts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"seine/internal/ops/procstats"
	"seine/pkg/crawlspec"
)

// day is a crawl whose alerts are evaluated every ten seconds.
type day struct {
	t     *testing.T
	rules crawlspec.Alerts
	state State
	look  Observation
	said  []string
}

const every = 10 * time.Second

func newDay(t *testing.T) *day {
	return &day{t: t, rules: crawlspec.DefaultAlerts(), look: Observation{At: time.Unix(1_800_000_000, 0).UTC(), Every: every}}
}

// pass advances the time, with an evaluation every ten seconds after happens.
func (d *day) pass(span time.Duration, happens func(l *Observation)) {
	for range int(span / every) {
		d.look.At = d.look.At.Add(every)
		if happens != nil {
			happens(&d.look)
		}
		// What one leader stores the next one reads.
		for _, c := range d.state.Evaluate("news", &d.rules, &d.look) {
			d.said = append(d.said, fmt.Sprint(c.Phase, " ", strings.TrimSpace(string(c.Alert.Kind)+" "+c.Alert.Target)))
			if c.Alert.Text == "" || !strings.HasPrefix(c.ID, "news."+string(c.Alert.Kind)+".") {
				d.t.Errorf("change %+v", c)
			}
		}
	}
}

// want fails unless exactly these changes were reported since its last call.
func (d *day) want(what ...string) {
	d.t.Helper()
	if got, want := strings.Join(d.said, ", "), strings.Join(what, ", "); got != want {
		d.t.Errorf("got changes %q, want %q", got, want)
	}
	d.said = nil
}

// blocked adds ten requests at each evaluation, n of them answered with a challenge.
func blocked(n int64) func(*Observation) {
	return func(l *Observation) {
		requests(10-n, n)(l)
		l.Crawl.Blocked += n
	}
}

func TestSitesThatBlockAreTold(t *testing.T) {
	d := newDay(t)
	d.rules.ErrorRate = 0
	d.pass(10*time.Second, blocked(4))
	d.pass(10*time.Minute, blocked(0))
	d.want() // four are too few
	d.pass(10*time.Minute, blocked(1))
	d.want("raised blocked")
	if text := d.state.Raised()[0].Text; !strings.HasPrefix(text, "sites answered ") {
		t.Errorf("it says %q", text)
	}
	d.pass(time.Hour, nil) // the hosts get no requests, so nothing has shown that they accept the crawler
	d.want()
	d.pass(10*time.Minute, blocked(0))
	d.want("cleared blocked")
	d.pass(10*time.Minute, blocked(1))
	d.want("raised blocked")
	d.rules.Blocked = 0
	d.pass(time.Minute, blocked(1))
	d.want("cleared blocked")
}

// A failing login is reported at the first evaluation, even if it is older, whatever the
// thresholds. It is cleared when requests succeed.
func TestFailedLoginsAreReported(t *testing.T) {
	d := newDay(t)
	d.rules.ErrorRate, d.rules.Blocked, d.rules.Over = 0, 0, 0
	fails := func(n int64) func(*Observation) {
		return func(l *Observation) {
			requests(0, n)(l)
			l.Crawl.FailedLogins += n
		}
	}
	d.pass(every, fails(1))
	d.want("raised login")
	if text := d.state.Raised()[0].Text; !strings.HasPrefix(text, "1 login failed: check render.login") {
		t.Errorf("it says %q", text)
	}
	d.pass(time.Hour, nil) // the host gets no requests
	d.want()
	d.pass(every, requests(1, 0))
	d.want("cleared login")
	d.pass(time.Minute, requests(1, 0))
	d.pass(every, fails(2))
	d.want("raised login")
	d.pass(every, func(l *Observation) { l.Crawl.Idle = true })
	d.want("cleared login")
}

// requests completes some requests at each evaluation.
func requests(ok, failed int64) func(*Observation) {
	return func(l *Observation) {
		l.Crawl.Asked += ok + failed
		l.Crawl.Failed += failed
		l.Crawl.Done += ok
	}
}

func TestErrorRateIsRaisedOnceAndClearedOnce(t *testing.T) {
	d := newDay(t)
	d.pass(10*time.Minute, requests(95, 5))
	d.want()
	d.pass(10*time.Minute, requests(80, 20))
	d.want("raised error_rate")
	d.pass(10*time.Minute, requests(91, 9)) // better, but not good
	d.want()
	d.pass(10*time.Minute, requests(99, 1))
	d.want("cleared error_rate")
}

func TestFewRequestsSayNothing(t *testing.T) {
	d := newDay(t)
	d.pass(10*time.Second, requests(2, 1)) // 1 of 3
	d.pass(30*time.Minute, nil)
	d.want()
	d.pass(time.Minute, requests(0, 10))
	d.want("raised error_rate")
	d.pass(time.Hour, nil) // no request has shown a recovery
	d.want()
	d.pass(10*time.Minute, requests(10, 0))
	d.want("cleared error_rate")
}

func TestErrorsOfAnotherLifeOfTheCrawlDoNotCount(t *testing.T) {
	d := newDay(t)
	d.pass(10*time.Minute, requests(100, 0))
	d.pass(every, func(l *Observation) { l.Crawl = Progress{Asked: 10, Failed: 9} }) // its counters were reset
	d.want()
}

func busy(l *Observation) { l.Crawl.Busy = "3 requests are under way" }

func TestNoProgress(t *testing.T) {
	d := newDay(t)
	d.pass(14*time.Minute, busy)
	d.want()
	d.pass(2*time.Minute, busy)
	d.want("raised no_progress")
	d.pass(time.Hour, busy)
	d.want()
	d.pass(every, requests(1, 0))
	d.want("cleared no_progress")
}

// Nothing could be done because of a long Retry-After, a schedule or a pause.
func TestWaitingIsNoStandstill(t *testing.T) {
	d := newDay(t)
	d.pass(5*time.Hour, func(l *Observation) { l.Crawl.Busy = "" })
	d.pass(5*time.Hour, func(l *Observation) { l.Crawl.Busy, l.Crawl.Idle = "2 requests", true })
	// An occasional request, as for a host with a long delay.
	n := 0
	d.pass(5*time.Hour, func(l *Observation) {
		if n++; n%60 == 0 {
			l.Crawl.Busy = "1 request is under way"
		} else {
			l.Crawl.Busy, l.Crawl.Idle = "", false
		}
	})
	d.want()
}

func TestUnansweredFrontierIsNoProgress(t *testing.T) {
	d := newDay(t)
	d.pass(time.Minute, requests(100, 0))
	d.pass(20*time.Minute, func(l *Observation) { l.Crawl = Progress{Unknown: "partition 3: no frontier answers"} })
	d.want("raised no_progress")
	if !strings.Contains(d.state.Raised()[0].Text, "partition 3") {
		t.Errorf("it says %q", d.state.Raised()[0].Text)
	}
}

// Alerts about all crawls are raised only for running ones, even if nobody can be queried.
func TestCrawlThatHasEndedRaisesNothingWhileNobodyAnswers(t *testing.T) {
	d := newDay(t)
	d.pass(time.Minute, func(l *Observation) { l.Crawl.Over = true })
	d.look.Streams = []Stream{{Name: "PAGES", Bytes: 99, Limit: 100}}
	d.pass(20*time.Minute, func(l *Observation) { l.Crawl = Progress{Unknown: "partition 3: no frontier answers"} })
	d.want()
	d.pass(10*time.Minute, func(l *Observation) { l.Crawl = Progress{} })
	d.want("raised stream_full PAGES")
}

// Nobody watched while the broker was down, so that time does not count.
func TestTimeThatNobodyWatchedDoesNotCount(t *testing.T) {
	d := newDay(t)
	d.pass(10*time.Minute, busy)
	d.look.At = d.look.At.Add(3 * time.Hour)
	d.pass(4*time.Minute, busy)
	d.want()
	d.pass(2*time.Minute, busy)
	d.want("raised no_progress")
}

func TestLag(t *testing.T) {
	d := newDay(t)
	d.look.Stages = []Stage{{Name: "parser", Waiting: 10}, {Name: "writer default"}}
	d.look.Stages[0].Oldest = d.look.At
	d.pass(29*time.Minute, nil)
	d.want()
	d.pass(2*time.Minute, nil)
	d.want("raised lag parser")
	d.pass(every, func(l *Observation) { l.Stages[0].Oldest = l.At.Add(-20 * time.Minute) })
	d.want()
	d.pass(every, func(l *Observation) { l.Stages[0] = Stage{Name: "parser"} })
	d.want("cleared lag parser")
	d.rules.LagMessages = 1000
	d.pass(time.Minute, func(l *Observation) { l.Stages[1].Waiting, l.Stages[1].Oldest = 1000, l.At })
	d.want("raised lag writer default")
}

func TestStreamFull(t *testing.T) {
	d := newDay(t)
	d.look.Streams = []Stream{{"PAGES", 960, 1000}, {"FETCH", 1 << 40, 0}, {"DEAD", 1000, 1000}}
	d.pass(every, nil)
	d.want() // seen only once
	d.pass(every, nil)
	d.want("raised stream_full PAGES")
	d.pass(every, func(l *Observation) { l.Streams[0].Bytes = 940 })
	d.want()
	d.pass(every, func(l *Observation) { l.Streams[0].Bytes = 700 })
	d.want("cleared stream_full PAGES")
}

// Four processes on one disk raise one alert.
func TestDiskIsToldOnce(t *testing.T) {
	d := newDay(t)
	disk := []procstats.Disk{{Name: "state", Path: "/state", Device: "8:1", Free: 1 << 29, Size: 1 << 34}}
	for pid := range 4 {
		d.look.Processes = append(d.look.Processes, procstats.Process{Stage: "frontier", Host: "node1", PID: pid, Disks: disk})
	}
	d.pass(time.Minute, nil)
	d.want("raised disk node1 disk 8:1")
	if text := d.state.Raised()[0].Text; text != "the disk of /state (frontier) on node1 has 537 MB of 17.2 GB free, and disk_free is 1.07 GB: free some space" {
		t.Errorf("it says %q", text)
	}
	disk[0].Free = 1<<30 + 1
	d.pass(time.Minute, nil)
	d.want() // hardly better
	disk[0].Free = 1 << 32
	d.pass(time.Minute, nil)
	d.want("cleared disk node1 disk 8:1")
}

// A process that is silent for a moment is not gone; one that is silent for a minute is.
func TestMemoryOfAProcessThatGoes(t *testing.T) {
	d := newDay(t)
	p := []procstats.Process{
		{Stage: "fetcher", Host: "node1", PID: 7, Resident: 95 << 20, Limit: 100 << 20},
		{Stage: "parser", Host: "node1", PID: 8, Resident: 95 << 20}, // its limit is unknown
	}
	d.look.Processes = p
	d.pass(time.Minute, nil)
	d.want("raised memory fetcher node1-7")
	d.look.Processes = nil
	d.pass(30*time.Second, nil)
	d.look.Processes = p
	d.pass(30*time.Second, nil)
	d.want()
	d.look.Processes = nil
	d.pass(2*time.Minute, nil)
	d.want("cleared memory fetcher node1-7")
}

func TestAlertsEndWithTheCrawlAndWhenTurnedOff(t *testing.T) {
	d := newDay(t)
	wrong := func(l *Observation) {
		requests(0, 50)(l)
		busy(l)
		l.Streams = []Stream{{"PAGES", 999, 1000}}
	}
	d.pass(16*time.Minute, wrong)
	d.want("raised error_rate", "raised stream_full PAGES", "raised no_progress")
	d.pass(every, func(l *Observation) { wrong(l); l.Crawl.Idle = true })
	d.want("cleared error_rate", "cleared no_progress")
	d.pass(every, func(l *Observation) { l.Crawl.Over = true })
	d.want("cleared stream_full PAGES")

	d.pass(16*time.Minute, func(l *Observation) { l.Crawl.Over, l.Crawl.Idle = false, false; wrong(l) })
	d.want("raised error_rate", "raised stream_full PAGES", "raised no_progress")
	d.rules = crawlspec.Alerts{}
	d.pass(every, wrong)
	d.want("cleared stream_full PAGES", "cleared error_rate", "cleared no_progress") // the first seen comes first
}
