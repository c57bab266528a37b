package politeness

import (
	"math"
	"testing"
	"time"
)

func FuzzReadState(f *testing.F) {
	f.Add([]byte{stateVersion, 0})
	f.Add([]byte{1, 0xff, 0x07, 2, 3, 4, 9<<3 | 2<<1 | 1, 5, 6, 7, 8, 9, 10, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, err := ReadState(b)
		if err != nil {
			return
		}
		if len(rest) >= len(b) {
			t.Errorf("%d bytes are left of %d", len(rest), len(b))
		}
		wantRoundTrip(t, s)
		r := breakerRules
		for _, now := range []int64{math.MinInt64, 0, monday, math.MaxInt64} {
			if e := s.Earliest(&r, now); e < now || now == monday && e > now+int64(25*time.Hour) {
				t.Errorf("%+v: at %d, Earliest = %d", s, now, e)
			}
		}
		s.End(&r, monday, failure, 1)
		wantRoundTrip(t, s)
	})
}

func FuzzParseHours(f *testing.F) {
	f.Add("22:00-06:00", "Mon-Fri 09:00-17:00", "Europe/Berlin", monday)
	f.Add("Sat,Sun 00:00-24:00", "Fri 00:00-00:01", "Pacific/Apia", int64(math.MaxInt64))
	f.Add("00:00-24:00", "sun-mon 23:59-23:58", "", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, a, b, zone string, now int64) {
		h, err := ParseHours([]string{a, b}, zone)
		if err != nil {
			if h != (Hours{}) {
				t.Errorf("hours %+v beside the error %v", h, err)
			}
			return
		}
		if again, err := ParseHours([]string{b, a}, zone); err != nil || again != h {
			t.Errorf("the other way round they are %+v, %v, want %+v", again, err, h)
		}
		next := h.Next(now)
		if next < now || h.Next(next) != next && next != math.MaxInt64 {
			t.Errorf("Next(%d) = %d", now, next)
		}
		if span := int64(16 * 24 * time.Hour); now < math.MaxInt64-span && next > now+span {
			t.Errorf("Next is %v ahead", time.Duration(next-now))
		}
	})
}
