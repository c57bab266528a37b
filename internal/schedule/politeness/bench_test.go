package politeness

import (
	"testing"
	"time"
)

var benchRules = Rules{
	Delay: time.Second, PerHost: 1, Factor: 1, MaxDelay: 5 * time.Minute, Jitter: 0.2, CrawlDelay: true,
	Breaker: Breaker{Failures: 5, Wait: time.Minute, MaxWait: time.Hour, Probes: 6},
}

// BenchmarkRequest measures the operations of one request: begin, end, compute the next time,
// store.
func BenchmarkRequest(b *testing.B) {
	for name, hours := range map[string]Hours{
		"always": {},
		"utc":    hours(b, "", "Mon-Fri 22:00-06:00"),
		"berlin": hours(b, "Europe/Berlin", "Mon-Fri 22:00-06:00"),
	} {
		b.Run(name, func(b *testing.B) {
			r := benchRules
			r.Hours = hours
			var s State
			buf := make([]byte, 0, 80)
			now, crawlDelay := monday, 2*time.Second
			o := Outcome{Kind: Good, Took: 150 * time.Millisecond, CrawlDelay: &crawlDelay}
			b.ReportAllocs()
			for b.Loop() {
				s.Begin(&r, now)
				now += int64(o.Took)
				s.End(&r, now, o, uint64(now))
				now = s.Earliest(&r, now)
				buf = s.Append(buf[:0])
			}
		})
	}
}

func BenchmarkReadState(b *testing.B) {
	var s State
	s.Begin(&benchRules, monday)
	s.End(&benchRules, monday, Outcome{Kind: Good, Took: time.Second}, 1)
	stored := s.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ReadState(stored); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseHours(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		hours(b, "Europe/Berlin", "Mon-Fri 22:00-06:00", "Sat,Sun 00:00-24:00")
	}
}

// The frontier computes and stores for every request, so it must not allocate.
func TestNoAllocations(t *testing.T) {
	r := benchRules
	r.Hours = hours(t, "Europe/Berlin", "22:00-06:00")
	var s State
	buf := make([]byte, 0, 80)
	now := monday
	if n := testing.AllocsPerRun(1000, func() {
		s.Begin(&r, now)
		s.End(&r, now, throttled, 1)
		now = s.Earliest(&r, now)
		s.Phase(&r, now)
		buf = s.Append(buf[:0])
		_, _, _ = ReadState(buf)
	}); n != 0 {
		t.Errorf("a request allocates %v times", n)
	}
}
