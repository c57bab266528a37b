package calendar

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestFile(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "club.ics"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	crlf, err := Parse(bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	got, other := asJSON(t, c), asJSON(t, crlf)
	if got != other {
		t.Errorf("with CRLF: %s", other)
	}
	golden := filepath.Join("testdata", "club.json")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// event wraps the lines of an event.
func event(lines string) []byte {
	return []byte("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\n" + lines + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

func TestTimes(t *testing.T) {
	for lines, want := range map[string][2]string{
		"DTSTART:20260301T100000Z":                                    {"2026-03-01T10:00:00Z", ""},
		"DTSTART:20260301T100000":                                     {"2026-03-01T10:00:00", ""},
		"DTSTART;TZID=America/New_York:20260701T100000":               {"2026-07-01T10:00:00-04:00", ""},
		"DTSTART;TZID=Local:20260701T100000":                          {"2026-07-01T10:00:00", ""},
		"DTSTART;TZID=../../etc/passwd:20260701T100000":               {"2026-07-01T10:00:00", ""},
		"DTSTART;VALUE=DATE:20260301\r\nDTEND;VALUE=DATE:20260303":    {"2026-03-01", "2026-03-03"},
		"DTSTART:20260301T230000Z\r\nDURATION:P1DT2H3M4S":             {"2026-03-01T23:00:00Z", "2026-03-03T01:03:04Z"},
		"DTSTART:20260301T100000\r\nDURATION:PT90M":                   {"2026-03-01T10:00:00", "2026-03-01T11:30:00"},
		"DTSTART:20260301\r\nDURATION:-P1D":                           {"2026-03-01", ""},
		"DURATION:P1D\r\nDTSTART:20260301\r\nDTEND:20260309":          {"2026-03-01", "2026-03-09"},
		"dtstart;value=date;x=\"a;b:c\":20260301":                     {"2026-03-01", ""},
		"DTSTART;TZID=\"Europe/Paris\";VALUE=DATE-TIME:20260301T1000": {},
		"DTSTART:yesterday":                                           {},
		"DTSTART:20261301":                                            {},
	} {
		c, err := Parse(event(lines))
		if err != nil {
			t.Fatal(err)
		}
		var got [2]string
		for _, e := range c.Events {
			got = [2]string{e.Start, e.End}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

func TestNoCalendar(t *testing.T) {
	for _, file := range []string{"", "BEGIN:VCARD\r\nEND:VCARD\r\n", "<html>", "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260301\r\nEND:VEVENT"} {
		if _, err := Parse([]byte(file)); !errors.Is(err, ErrNoCalendar) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestBounds(t *testing.T) {
	one := "BEGIN:VEVENT\nUID:1\nDTSTART:20260301\nEND:VEVENT\n"
	zones := strings.Builder{}
	for range 100_000 {
		zones.WriteString("DTSTART;TZID=Zone/" + strings.Repeat("x", zones.Len()%17) + ":20260701T100000\n")
	}
	for name, c := range map[string]struct {
		file   string
		events int
		cut    bool
	}{
		"many events":  {"BEGIN:VCALENDAR\n" + strings.Repeat(one, MaxEvents+5), MaxEvents, true},
		"just so many": {"BEGIN:VCALENDAR\n" + strings.Repeat(one, MaxEvents), MaxEvents, false},
		"deep":         {"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:X\n", 1_000_000) + one, 0, false},
		"a long line":  {string(event("DTSTART:20260301\nSUMMARY:" + strings.Repeat("x\n ", 5_000_000))), 1, false},
		"one line":     {"BEGIN:VCALENDAR\n" + strings.Repeat(`";`, 10_000_000), 0, false},
		"zones":        {string(event(zones.String())), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got, err := Parse([]byte(c.file))
			if err != nil || len(got.Events) != c.events || got.Cut != c.cut {
				t.Fatalf("%d events, cut %v, %v", len(got.Events), got.Cut, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			for _, e := range got.Events {
				if len(e.Summary) > maxLine {
					t.Errorf("a summary of %d bytes", len(e.Summary))
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	file, err := os.ReadFile(filepath.Join("testdata", "club.ics"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(event("DTSTART:20260301\r\nDURATION:P999999W"))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := Parse(file)
		if err != nil {
			return
		}
		again, err := Parse(file)
		if err != nil || asJSON(t, c) != asJSON(t, again) {
			t.Error("not the same twice")
		}
		for _, e := range c.Events {
			if e.UID == "" || e.Start == "" {
				t.Errorf("an event without identity or start: %+v", e)
			}
		}
	})
}
