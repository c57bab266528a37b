package politeness

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// genSpan draws durations; 0, small and large ones are likely.
func genSpan(longest time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.OneOf(
			rapid.Just(int64(0)), rapid.Int64Range(0, int64(2*time.Second)), rapid.Int64Range(0, int64(longest)),
		).Draw(t, "span")) % (longest + 1)
	})
}

func genHours(tb testing.TB) *rapid.Generator[Hours] {
	return rapid.SampledFrom([]Hours{
		{}, {}, hours(tb, "", "22:00-06:00"), hours(tb, "Europe/Berlin", "Mon-Fri 09:00-17:00", "Sat 02:30-03:00"),
		hours(tb, "America/New_York", "Sat,Sun 00:00-24:00"),
	})
}

func genRules(tb testing.TB) *rapid.Generator[Rules] {
	return rapid.Custom(func(t *rapid.T) Rules {
		return Rules{
			Delay:         genSpan(time.Hour).Draw(t, "delay"),
			Interval:      genSpan(time.Minute).Draw(t, "interval"),
			PerHost:       rapid.IntRange(0, 8).Draw(t, "per host"),
			Factor:        rapid.Float64Range(0, 10).Draw(t, "factor"),
			MaxDelay:      genSpan(time.Hour).Draw(t, "max delay"),
			Jitter:        rapid.Float64Range(0, 1).Draw(t, "jitter"),
			CrawlDelay:    rapid.Bool().Draw(t, "obey crawl delay"),
			Hours:         genHours(tb).Draw(t, "hours"),
			MaxRetryAfter: genSpan(48*time.Hour).Draw(t, "max retry after"),
			Breaker: Breaker{
				Failures: rapid.IntRange(0, 4).Draw(t, "failures"),
				Wait:     genSpan(time.Hour).Draw(t, "wait"), MaxWait: genSpan(2*time.Hour).Draw(t, "max wait"),
				Probes: rapid.IntRange(0, 4).Draw(t, "probes"),
			},
		}
	})
}

func genOutcome() *rapid.Generator[Outcome] {
	return rapid.Custom(func(t *rapid.T) Outcome {
		o := Outcome{
			// Good and HostFailure are frequent, so that rows of them occur.
			Kind: rapid.SampledFrom([]Kind{Neutral, Unsent, Good, Good, Good, Throttled, Refused, HostFailure, HostFailure}).Draw(t, "kind"),
			Took: genSpan(time.Minute).Draw(t, "took"),
			Age:  genSpan(time.Minute).Draw(t, "age"),
		}
		if rapid.IntRange(0, 3).Draw(t, "extras") == 0 {
			o.RetryAfter = genSpan(100*time.Hour).Draw(t, "retry after") - time.Second
			crawlDelay := genSpan(2*time.Hour).Draw(t, "crawl delay")
			o.CrawlDelay = &crawlDelay
		}
		return o
	})
}

// ledger tracks a host's limits for its crawler, independently of State.
type ledger struct {
	r           Rules
	underWay    int
	lastStart   int64
	lastEnd     int64
	retryAfter  int64 // no request before
	crawlDelay  time.Duration
	failures    int   // in a row, with a closed breaker
	breakerOpen bool  // by the failures counted here
	probeAfter  int64 // no request before, while open
}

// began checks a request against all promises of the package comment.
func (l *ledger) began(t *rapid.T, now int64) {
	never := func(sooner bool, than string) {
		if sooner {
			t.Fatalf("a request started sooner than %s: %+v at %d", than, *l, now)
		}
	}
	after := func(t int64, d time.Duration) bool { return t != 0 && now < t+int64(d) }
	never(after(l.lastEnd, l.r.Delay), "Delay")
	if l.r.CrawlDelay {
		never(after(l.lastEnd, min(l.r.MaxDelay, l.crawlDelay)), "Crawl-delay")
	}
	never(after(l.lastStart, l.r.Interval), "Interval")
	never(now < l.retryAfter, "Retry-After")
	never(l.breakerOpen && now < l.probeAfter, "the breaker allows")
	never(l.r.Hours.Next(now) != now, "Hours")
	if l.underWay > 0 && (l.r.Delay > 0 || l.breakerOpen || l.underWay >= max(1, l.r.PerHost)) {
		t.Fatalf("a request started beside %d: %+v", l.underWay, *l)
	}
	l.underWay++
	l.lastStart = now
}

// ended records that a request has ended, which the crawler learns later.
func (l *ledger) ended(learnt int64, o Outcome) {
	now := learnt - int64(o.Age)
	l.underWay--
	if o.CrawlDelay != nil {
		l.crawlDelay = *o.CrawlDelay
	}
	if o.Kind != Unsent {
		l.lastEnd = max(l.lastEnd, now)
	}
	switch o.Kind {
	case Good, Throttled, Refused:
		l.failures, l.breakerOpen = 0, false
	case HostFailure:
		l.failures++
		if l.r.Breaker.Failures > 0 && l.failures == l.r.Breaker.Failures {
			l.breakerOpen, l.probeAfter = true, now+int64(l.r.Breaker.Wait)
		}
	case Neutral, Unsent, Abandoned:
	}
	if o.Kind == Throttled || o.Kind == HostFailure {
		l.retryAfter = max(l.retryAfter, now+int64(min(o.RetryAfter, l.r.maxRetryAfter())))
	}
}

func TestACrawlerThatObeysIsPolite(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		l := ledger{r: genRules(tt).Draw(t, "rules")}
		var s State
		now := monday + rapid.Int64Range(0, int64(365*24*time.Hour)).Draw(t, "start")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			wantSound(t, &s, &l.r, now)
			mayStart := s.Earliest(&l.r, now) == now && l.underWay < s.Limit(&l.r)
			switch {
			case mayStart && rapid.IntRange(0, 4).Draw(t, "start") > 0:
				l.began(t, now)
				s.Begin(&l.r, now)
			case l.underWay > 0 && rapid.Bool().Draw(t, "end"):
				o := genOutcome().Draw(t, "outcome")
				s.End(&l.r, now, o, rapid.Uint64().Draw(t, "seed"))
				l.ended(now, o)
			case rapid.Bool().Draw(t, "until due"):
				now = s.Earliest(&l.r, now)
			default:
				now += int64(genSpan(time.Minute).Draw(t, "later"))
			}
		}
	})
}

// wantSound checks the invariants of every State.
func wantSound(t *rapid.T, s *State, r *Rules, now int64) {
	earliest, phase := s.Earliest(r, now), s.Phase(r, now)
	if earliest < now || (now < math.MaxInt64/2 && earliest > now+int64(longestWait(r))) {
		t.Fatalf("at %d, Earliest = %d: %+v", now, earliest, s)
	}
	known := s.began <= now && s.ended <= now // by this clock
	if again := s.Earliest(r, earliest); again != earliest && known {
		t.Fatalf("Earliest = %d, but asked again then, %d: %+v", earliest, again, s)
	}
	if waiting := earliest > now; waiting == (phase == Due) && (waiting || !s.Open(r)) {
		t.Fatalf("the phase is %q, but the wait is %v: %+v", phase, time.Duration(earliest-now), s)
	}
	if limit := s.Limit(r); limit < 1 || limit > max(1, r.PerHost) {
		t.Fatalf("Limit = %d of %d", limit, r.PerHost)
	}
	wantRoundTrip(t, *s)
}

// longestWait returns the upper bound of Earliest that the package comment promises.
func longestWait(r *Rules) time.Duration {
	longest := max(r.Interval, r.maxRetryAfter(), r.mostJittered(max(r.Delay, r.MaxDelay, maxSlow)), r.mostJittered(r.Breaker.longest()))
	return longest + 15*24*time.Hour
}

func TestNothingPanicsOrStalls(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		var s State
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			r, now := genRules(tt).Draw(t, "rules"), rapid.Int64().Draw(t, "now")
			if rapid.IntRange(0, 3).Draw(t, "sane") > 0 {
				now = monday + now%int64(time.Hour)
			}
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				s.Begin(&r, now)
			case 1:
				s = genState().Draw(t, "state")
			default:
				o := genOutcome().Draw(t, "outcome")
				o.Took, o.RetryAfter = time.Duration(rapid.Int64().Draw(t, "took")), time.Duration(rapid.Int64().Draw(t, "retry"))
				s.End(&r, now, o, rapid.Uint64().Draw(t, "seed"))
			}
			wantSound(t, &s, &r, rapid.SampledFrom([]int64{now, now / 2, monday}).Draw(t, "asked"))
			s.Abandoned(&r)
		}
	})
}

// genState draws any State that can be decoded.
func genState() *rapid.Generator[State] {
	return rapid.Custom(func(t *rapid.T) State {
		n := numbers{3: uint64(rapid.IntRange(0, 9).Draw(t, "good"))<<3 | rapid.Uint64Range(0, 5).Draw(t, "marks")}
		for _, i := range []int{0, 2} {
			n[i] = rapid.Uint64().Draw(t, "time")
		}
		for _, i := range []int{1, 4, 5, 6, 9} {
			n[i] = rapid.Uint64Max(math.MaxInt64).Draw(t, "span")
		}
		for _, i := range []int{7, 8} {
			n[i] = uint64(rapid.Uint32().Draw(t, "count"))
		}
		s, err := n.state()
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestStrictestIsNoLessStrictThanEither(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		a, b := genRules(tt).Draw(t, "a"), genRules(tt).Draw(t, "b")
		a.Hours = genHours(tt).Draw(t, "hours of both") // so that they overlap
		b.Hours = a.Hours
		both := Strictest(a, b)
		var s State
		now := monday
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			s.Begin(&both, now)
			s.End(&both, now, genOutcome().Draw(t, "outcome"), rapid.Uint64().Draw(t, "seed"))
			now += int64(genSpan(time.Minute).Draw(t, "later"))
			for _, r := range []Rules{a, b} {
				if strict, lax := s.Earliest(&both, now), s.Earliest(&r, now); strict < lax {
					t.Fatalf("Earliest is %v sooner than for one of them", time.Duration(lax-strict))
				}
				if strict, lax := s.Limit(&both), s.Limit(&r); strict > lax {
					t.Fatalf("Limit is %d, and %d for one of them", strict, lax)
				}
				if s.Abandoned(&r) && !s.Abandoned(&both) {
					t.Fatal("given up for one of them only")
				}
			}
		}
	})
}

// TestNextIsTheFirstMomentWithinHours compares Next with a walk from minute to minute along the
// clocks of package time, over all clock changes of a year.
func TestNextIsTheFirstMomentWithinHours(tt *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo"}
	rapid.Check(tt, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, _ := time.LoadLocation(zone)
		var spec []string
		var open [7 * 24 * 60]bool
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			d := rapid.IntRange(0, 6).Draw(t, "day")
			from, to := rapid.IntRange(0, 1439).Draw(t, "from"), rapid.IntRange(0, 1440).Draw(t, "to")
			if from == to {
				to++
			}
			spec = append(spec, fmt.Sprintf("%s %02d:%02d-%02d:%02d", time.Weekday(d).String()[:3], from/60, from%60, to/60, to%60))
			for i := from; i != to && i < from+1440; i++ {
				open[(d*1440+i)%len(open)] = true
				if i == 1439 && to < from {
					to += 1440
				}
			}
		}
		inside := func(at time.Time) bool {
			at = at.In(loc)
			return open[int(at.Weekday())*1440+at.Hour()*60+at.Minute()]
		}
		h := hours(tt, zone, spec...)
		change := time.Date(2011, 1, 1, 0, 0, 0, 0, loc)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if _, end := change.ZoneBounds(); !end.IsZero() {
				change = end
			}
		}
		from := change.Add(time.Duration(rapid.IntRange(-3*1440, 1440).Draw(t, "minutes"))*time.Minute + 17*time.Second)
		want := from
		for !inside(want) {
			want = want.Truncate(time.Minute).Add(time.Minute)
		}
		if got := time.Unix(0, h.Next(from.UnixNano())); !got.Equal(want) {
			t.Fatalf("%q in %s: Next(%v) = %v, want %v", spec, zone, from, got.In(loc), want.In(loc))
		}
	})
}

func TestSeedsMixWell(t *testing.T) {
	// Neighbouring seeds must be distributed evenly over the parts of a range.
	var parts [16]int
	for seed := range uint64(16_000) {
		parts[mix(seed)>>60]++
	}
	if slices.Min(parts[:]) < 850 || slices.Max(parts[:]) > 1150 {
		t.Errorf("16,000 seeds fall into 16 parts as %v", parts)
	}
}
