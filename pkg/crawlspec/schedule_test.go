package crawlspec

import (
	"strings"
	"testing"
	"time"
)

func TestNextRun(t *testing.T) {
	for _, tt := range []struct{ schedule, zone, after, want string }{
		{"", "", "2026-11-21T10:00:00Z", ""},
		// Intervals count from 1970 in UTC, whatever the time zones of the spec and of the
		// argument.
		{"@every 6h", "Asia/Tokyo", "2026-11-21T10:00:00Z", "2026-11-21T12:00:00Z"},
		{"@every 6h", "", "2026-11-21T11:59:59.999999999Z", "2026-11-21T12:00:00Z"},
		{"@every 6h", "", "2026-11-21T12:00:00Z", "2026-11-21T18:00:00Z"},
		{"@every 6h", "", "2026-11-21T13:00:00+02:00", "2026-11-21T12:00:00Z"},
		{"@every 1d12h", "", "1970-01-01T00:00:00Z", "1970-01-02T12:00:00Z"},
		{"@every 7d", "", "2026-11-21T10:00:00Z", "2026-11-26T00:00:00Z"},
		{"@every 36500d", "", "2026-11-21T10:00:00Z", "2069-12-07T00:00:00Z"},

		{"30 2 * * *", "", "2026-11-21T10:00:00Z", "2026-11-22T02:30:00Z"},
		{"30 2 * * *", "Asia/Tokyo", "2026-11-21T10:00:00Z", "2026-11-21T17:30:00Z"},
		{"0 9 * * MON-FRI", "Europe/Paris", "2026-11-21T10:00:00Z", "2026-11-23T08:00:00Z"},
		{"*/20 * * * *", "", "2026-11-21T10:20:00Z", "2026-11-21T10:40:00Z"},
		{"0 0 29 2 *", "", "2026-11-21T10:00:00Z", "2028-02-29T00:00:00Z"},
		{"@daily", "", "2026-11-21T10:00:00Z", "2026-11-22T00:00:00Z"},

		// In Paris the clocks go from 02:00 to 03:00 on 2026-03-29, at 01:00Z.
		{"30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"30 2 * * *", "Europe/Paris", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		{"30 3 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"},
		{"0 3 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"0 * * * *", "Europe/Paris", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"0 * * * *", "Europe/Paris", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},
		{"30 2 29 3 *", "Europe/Paris", "2025-06-01T00:00:00Z", "2026-03-29T01:00:00Z"},
		// And from 03:00 back to 02:00 on 2026-10-25, at 01:00Z.
		{"30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"30 2 * * *", "Europe/Paris", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"30 * * * *", "Europe/Paris", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"0 3 * * *", "Europe/Paris", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"},
		// By half an hour in Lord Howe Island, and at midnight in Chile.
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"},
		{"0 22 * * SAT", "America/Santiago", "2026-09-06T02:30:00Z", "2026-09-13T01:00:00Z"},
		{"0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
	} {
		s := Default()
		s.Schedule, s.TimeZone = tt.schedule, tt.zone
		if err := s.Validate(); err != nil {
			t.Errorf("%q: %v", tt.schedule, err)
		}
		after, err := time.Parse(time.RFC3339, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		next, err := s.NextRun(after)
		got := ""
		if !next.IsZero() {
			got = next.UTC().Format(time.RFC3339)
		}
		if err != nil || got != tt.want {
			t.Errorf("%q in %q after %s: %s, want %s; %v", tt.schedule, tt.zone, tt.after, got, tt.want, err)
		}
	}
}

func TestNextRunRefuses(t *testing.T) {
	for schedule, want := range map[string]string{
		"@every":                  `"@every": `,
		"@every 0s":               "@every takes a duration of at least 1s",
		"@every 999ms":            "@every takes a duration of at least 1s",
		"@every -1h":              "@every takes a duration of at least 1s",
		"@every day":              `"@every day": did you mean "@daily"?`,
		"daily":                   `"daily": did you mean "@daily"?`,
		"* * * *":                 "expected exactly 5 fields",
		"* * * * * *":             "expected exactly 5 fields",
		"60 * * * *":              "above maximum",
		"*/0 * * * *":             "step of range",
		"a b c d e":               "failed to parse int",
		" ":                       "expected exactly 5 fields",
		"TZ=0":                    "write the time zone into time_zone",
		"TZ=Asia/Tokyo 0 * * * *": "write the time zone into time_zone",
		"CRON_TZ=":                "write the time zone into time_zone",
	} {
		s := Default()
		s.Schedule = schedule
		if next, err := s.NextRun(time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want … %s", schedule, next, err, want)
		}
		if s.Validate() == nil {
			t.Errorf("%q is valid", schedule)
		}
	}
	s := Default()
	s.Schedule, s.TimeZone = "0 * * * *", "Mars/Utopia"
	if _, err := s.NextRun(time.Unix(0, 0)); err == nil || !strings.HasPrefix(err.Error(), `time_zone "Mars/Utopia"`) {
		t.Errorf("an unknown time zone: %v", err)
	}
}
