package politeness

import (
	"testing"
	"time"
)

func TestStrictest(t *testing.T) {
	a := Rules{
		Delay: time.Second, PerHost: 4, Factor: 2, MaxDelay: time.Minute, CrawlDelay: true,
		Breaker: Breaker{Failures: 5, Wait: time.Minute, MaxWait: time.Hour, Probes: 6},
	}
	b := Rules{
		Interval: time.Second, PerHost: 2, MaxDelay: time.Hour, Jitter: 0.5, MaxRetryAfter: time.Minute,
		Breaker: Breaker{Failures: 3, Wait: time.Second, MaxWait: 2 * time.Hour},
	}
	want := Rules{
		Delay: time.Second, Interval: time.Second, PerHost: 2, Factor: 2, MaxDelay: time.Hour, Jitter: 0.5, CrawlDelay: true,
		Breaker:       Breaker{Failures: 3, Wait: time.Minute, MaxWait: 2 * time.Hour, Probes: 6},
		MaxRetryAfter: DefaultMaxRetryAfter,
	}
	if got := Strictest(a, b); got != want {
		t.Errorf("Strictest = %+v, want %+v", got, want)
	}
	if got := Strictest(b, a); got != want {
		t.Errorf("the other way round it is %+v, want %+v", got, want)
	}
	a.Breaker.Failures = 0
	if got := Strictest(a, b).Breaker; got != b.Breaker {
		t.Errorf("with one breaker off it is %+v, want the other", got)
	}
	if got := Strictest(b, a).Breaker; got != b.Breaker {
		t.Errorf("with the other breaker off it is %+v, want the first", got)
	}
}

func TestStrictestHours(t *testing.T) {
	night, day := hours(t, "", "22:00-06:00"), hours(t, "", "09:00-17:00")
	early := hours(t, "", "00:00-07:00")
	berlin := hours(t, "Europe/Berlin", "05:00-08:00") // 04:00-07:00 UTC in winter
	newYork := hours(t, "America/New_York", "00:00-00:30")
	const hour = time.Hour
	for _, tt := range []struct {
		name       string
		a, b, c    Hours
		from, next time.Duration // since Monday 00:00 UTC
	}{
		{"always and always", Hours{}, Hours{}, Hours{}, hour, hour},
		{"always and some", Hours{}, day, Hours{}, hour, 9 * hour},
		{"the same twice", day, day, day, hour, 9 * hour},
		{"overlapping: inside", night, early, Hours{}, hour, hour},
		{"overlapping: before", night, early, Hours{}, 6 * hour, 24 * hour},
		{"in two zones: inside", early, berlin, Hours{}, 5 * hour, 5 * hour},
		{"in two zones: before", early, berlin, Hours{}, 8 * hour, 28 * hour},
		{"in two zones, thrice", night, berlin, early, hour, 4 * hour},
		{"in three zones", early, berlin, newYork, hour, 5 * hour},
		{"in three zones, the next day", early, berlin, newYork, 6 * hour, 29 * hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, order := range [][3]Hours{{tt.a, tt.b, tt.c}, {tt.c, tt.b, tt.a}, {tt.b, tt.a, tt.c}} {
				left := order[0].common(order[1]).common(order[2])
				right := order[0].common(order[1].common(order[2]))
				for _, h := range []Hours{left, right} {
					if got := time.Duration(h.Next(monday+int64(tt.from)) - monday); got != tt.next {
						t.Errorf("from %v the next opening is at %v, want %v", tt.from, got, tt.next)
					}
				}
			}
		})
	}
}

func TestHoursWithoutACommonMomentNeverBegin(t *testing.T) {
	day := hours(t, "", "09:00-17:00")
	for _, other := range []Hours{hours(t, "", "22:00-06:00"), hours(t, "Asia/Tokyo", "07:00-12:00")} {
		h := day.common(other)
		for now, n := monday, 0; n < 10; n++ {
			next := h.Next(now)
			if next <= now || next > now+int64(16*24*time.Hour) {
				t.Fatalf("the next opening is after %v", time.Duration(next-now))
			}
			now = next
		}
	}
}

func TestStrictestHoursDoNotGrow(t *testing.T) {
	h := hours(t, "", "09:00-17:00").common(hours(t, "Asia/Tokyo", "17:00-20:00"))
	for _, again := range []Hours{h, hours(t, "Asia/Tokyo", "17:00-20:00"), hours(t, "", "09:00-17:00")} {
		if again.common(h) != h {
			t.Errorf("%+v and %+v is something else", again, h)
		}
	}
}
