package dates

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const second, minute, hour = 5, 4, 3
	at := func(h, m, s int) time.Time { return time.Date(2026, 1, 2, h, m, s, 0, time.UTC) }
	for text, want := range map[string]time.Time{
		"2026-01-02T03:04:05Z": at(hour, minute, second), "2026-01-02t03:04:05z": at(hour, minute, second),
		"2026-01-02T04:04:05+01:00": at(hour, minute, second), "2026-01-02T04:04:05+0100": at(hour, minute, second),
		"2026-01-02 04:04:05+01": at(hour, minute, second), "2026-01-02 10:00:00+00": at(10, 0, 0), "2026-01-02 10:00:00.000+00": at(10, 0, 0),
		"2026-01-02T03:04Z": at(hour, minute, 0), "2026-01-02 03:04:05 -0000": at(hour, minute, second),
		"20260102T030405Z": at(hour, minute, second), "20260102T030405": at(hour, minute, second), "20260102": at(0, 0, 0),
		"2026-01-02": at(0, 0, 0), "2026/1/2": at(0, 0, 0), "2.1.2026": at(0, 0, 0), "02.01.2026 03:04": at(hour, minute, 0),
		"Jan 2, 2026, 10:00:00 AM": at(10, 0, 0), "Jan 2 2026 15:04 UTC": at(15, 4, 0), "January 2nd, 2026 at 3:04 p.m.": at(15, 4, 0),
		"Jan 2, 2026 3pm": at(15, 0, 0), "Jan 2, 2026 12 AM": at(0, 0, 0), "Jan 2, 2026 12:30 PM": at(12, 30, 0), "Jan 2, 2026 8 p.m. EST": at(1, 0, 0).AddDate(0, 0, 1),
		"Fri, 02 Jan 2026 03:04:05 GMT": at(hour, minute, second), "Friday, 02-Jan-26 03:04:05 GMT": at(hour, minute, second),
		"Fri Jan  2 03:04:05 2026": at(hour, minute, second), "Fri Jan 2 03:04:05 UTC 2026": at(hour, minute, second), "Fri Jan 02 04:04:05 +0100 2026": at(hour, minute, second),
		"Fri Jan 02 2026 03:04:05 GMT+0000 (Coordinated Universal Time)": at(hour, minute, second),
		"2 Jan 26": at(0, 0, 0), "2-Jan-2026": at(0, 0, 0), "2026 January 2": at(0, 0, 0), "the 2nd of January 2026": at(0, 0, 0),
		"1 Jan 2026 19:00 PST": at(hour, 0, 0), " 2 January 2026\n": at(0, 0, 0),
	} {
		if got, _, ok := Parse(text, time.UTC); !ok || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}

func TestTimeOfDayIsToldApart(t *testing.T) {
	for text, want := range map[string]bool{"2026-01-02": false, "2 Jan 2026": false, "2026-01-02T00:00:00Z": true, "Jan 2 2026 12 AM": true} {
		if _, clock, ok := Parse(text, time.UTC); !ok || clock != want {
			t.Errorf("%q: clock %v, %v", text, clock, ok)
		}
	}
}

func TestZoneGivenIsThatOfTextsWithoutOne(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	for _, text := range []string{"2026-01-02 04:00", "2026-01-02 03:00Z"} {
		if got, _, ok := Parse(text, berlin); !ok || !got.Equal(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestNoDate(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "1/2/2026", "2026-13-01", "31 Jun 2026", "2026-01-02 25:00", "2026-01-02 03:60", "Jan 2 2026 13:00 PM", "12:30",
		"2 Jan 2026 03:04 XYZ", "2026", "2026-01", "2026-01-02 and more", "2026-01-02 03:04 2026-01-02", strings.Repeat("1", MaxText+1),
	} {
		if got, _, ok := Parse(text, time.UTC); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"2026-01-02T03:04:05Z", "Fri, 02 Jan 2026 03:04:05 GMT", "no date at all, but some words"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				Parse(text, time.UTC)
			}
		})
	}
}
