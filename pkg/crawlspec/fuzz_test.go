package crawlspec

import (
	"testing"
	"time"
)

func FuzzRate(f *testing.F) {
	for _, text := range []string{"10/s", "30/m", "1/5s", "0.5/s", "1e6/s", "1/24h", "", "-1/s", "1/0s", "0x1p4/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r, again Rate
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		s := Default()
		if s.Rate = r; s.Validate() != nil {
			t.Fatalf("%q is read as %s, which is not valid", text, r)
		}
		if err := again.UnmarshalText([]byte(r.String())); err != nil || again != r {
			t.Fatalf("%q became %s and then %s: %v", text, r, again, err)
		}
	})
}

func FuzzNextRun(f *testing.F) {
	for _, text := range []string{"0 3 * * 1", "*/15 9-17 * * mon-fri", "@every 1d", "@daily", "TZ=0", "0 0 30 2 *", "30 2 * * *"} {
		f.Add(text, "Europe/Berlin", int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, schedule, zone string, now int64) {
		s := Default()
		s.Schedule, s.TimeZone = schedule, zone
		if now < 0 || now > 1<<32 || s.Validate() != nil {
			return
		}
		at := time.Unix(now, 0)
		next, err := s.NextRun(at)
		if err != nil || !next.IsZero() && !next.After(at) {
			t.Fatalf("%q in %s after %s: %s, %v", schedule, zone, at, next, err)
		}
		if between, err := s.NextRun(next.Add(-1)); err != nil || !next.IsZero() && !between.Equal(next) {
			t.Fatalf("%q in %s: %s just before %s, %v", schedule, zone, between, next, err)
		}
	})
}
