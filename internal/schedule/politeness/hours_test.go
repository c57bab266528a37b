package politeness

import (
	"strings"
	"testing"
	"time"
)

func hours(t testing.TB, zone string, spec ...string) Hours {
	t.Helper()
	h, err := ParseHours(spec, zone)
	if err != nil {
		t.Fatalf("ParseHours(%q, %q): %v", spec, zone, err)
	}
	return h
}

// at parses a time such as "2024-01-01T00:00:00Z".
func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func TestHours(t *testing.T) {
	type next struct{ from, to string } // "" means from
	for _, tt := range []struct {
		name, zone string
		spec       []string
		next       []next
	}{
		{"of every day", "", []string{"09:00-17:00"}, []next{
			{"2024-01-01T08:59:59.999999999Z", "2024-01-01T09:00:00Z"},
			{"2024-01-01T09:00:00Z", ""},
			{"2024-01-01T16:59:59.999999999Z", ""},
			{"2024-01-01T17:00:00Z", "2024-01-02T09:00:00Z"},
			{"2024-02-28T17:00:00Z", "2024-02-29T09:00:00Z"},
			{"1969-12-31T20:00:00Z", "1970-01-01T09:00:00Z"},
		}},
		{"over midnight", "UTC", []string{"22:00-06:00"}, []next{
			{"2024-01-01T05:59:00Z", ""}, // of Sunday night
			{"2024-01-01T06:00:00Z", "2024-01-01T22:00:00Z"},
			{"2024-01-01T23:59:59Z", ""},
			{"2024-01-02T00:00:00Z", ""},
		}},
		{"over midnight on named days, which are those of the start", "", []string{"Fri 22:00-06:00"}, []next{
			{"2024-01-05T05:00:00Z", "2024-01-05T22:00:00Z"},
			{"2024-01-06T05:59:00Z", ""},
			{"2024-01-06T06:00:00Z", "2024-01-12T22:00:00Z"},
		}},
		{"from a Sunday to Monday", "", []string{"Sun 22:00-06:00"}, []next{
			{"2024-01-01T05:59:00Z", ""},
			{"2024-01-01T06:00:00Z", "2024-01-07T22:00:00Z"},
			{"2024-01-07T23:59:59.9Z", ""},
		}},
		{"on working days", "", []string{"mon-FRI 09:00-17:00"}, []next{
			{"2024-01-05T17:00:00Z", "2024-01-08T09:00:00Z"},
			{"2024-01-07T12:00:00Z", "2024-01-08T09:00:00Z"},
		}},
		{"on days round the end of the week", "", []string{"Sat-Mon 09:00-17:00"}, []next{
			{"2024-01-01T17:00:00Z", "2024-01-06T09:00:00Z"},
			{"2024-01-06T17:00:00Z", "2024-01-07T09:00:00Z"},
			{"2024-01-07T17:00:00Z", "2024-01-08T09:00:00Z"},
		}},
		{"of whole days", "", []string{"Sat,Sun 00:00-24:00"}, []next{
			{"2024-01-01T00:00:00Z", "2024-01-06T00:00:00Z"},
			{"2024-01-07T23:59:59.999999999Z", ""},
		}},
		{"of several windows", "", []string{"06:00-08:00", "07:00-09:00", " Mon,Wed-Thu\t20:00-21:00 "}, []next{
			{"2024-01-01T08:30:00Z", ""},
			{"2024-01-01T09:00:00Z", "2024-01-01T20:00:00Z"},
			{"2024-01-02T09:00:00Z", "2024-01-03T06:00:00Z"},
			{"2024-01-03T09:00:00Z", "2024-01-03T20:00:00Z"},
		}},
		{"by the clocks of a zone", "Asia/Kolkata", []string{"Mon 00:00-01:00"}, []next{
			{"2024-01-01T00:00:00Z", "2024-01-07T18:30:00Z"},
			{"2024-01-07T19:29:00Z", ""},
		}},

		// Clocks in Berlin were changed from 02:00 to 03:00 at 2024-03-31T01:00Z, and from 03:00 to
		// 02:00 at 2024-10-27T01:00Z.
		{"over a change of the clocks", "Europe/Berlin", []string{"09:00-17:00"}, []next{
			{"2024-03-30T16:00:00Z", "2024-03-31T07:00:00Z"},
			{"2024-10-26T15:00:00Z", "2024-10-27T08:00:00Z"},
		}},
		{"whose start the clocks skip", "Europe/Berlin", []string{"02:30-04:00"}, []next{
			{"2024-03-31T00:00:00Z", "2024-03-31T01:00:00Z"},
			{"2024-03-31T01:59:00Z", ""},
			{"2024-03-31T02:00:00Z", "2024-04-01T00:30:00Z"},
		}},
		{"that the clocks skip", "Europe/Berlin", []string{"02:15-02:45"}, []next{
			{"2024-03-31T00:00:00Z", "2024-04-01T00:15:00Z"},
		}},
		{"that the clocks skip in the only window of a week", "Europe/Berlin", []string{"Sun 02:15-02:45"}, []next{
			{"2024-03-24T02:00:00Z", "2024-04-07T00:15:00Z"},
		}},
		{"that the clocks go through twice", "Europe/Berlin", []string{"02:15-02:45"}, []next{
			{"2024-10-27T00:00:00Z", "2024-10-27T00:15:00Z"},
			{"2024-10-27T00:30:00Z", ""},
			{"2024-10-27T00:45:00Z", "2024-10-27T01:15:00Z"},
			{"2024-10-27T01:45:00Z", "2024-10-28T01:15:00Z"},
		}},
		{"whose end the clocks go through twice", "Europe/Berlin", []string{"01:00-02:30"}, []next{
			{"2024-10-27T00:30:00Z", "2024-10-27T01:00:00Z"}, // 02:00 occurs again
		}},
		// Samoa had no Friday 2011-12-30.
		{"of a day that a zone leaves out", "Pacific/Apia", []string{"Fri 09:00-17:00"}, []next{
			{"2011-12-24T04:00:00Z", "2012-01-05T19:00:00Z"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := hours(t, tt.zone, tt.spec...)
			for _, n := range tt.next {
				from := at(t, n.from)
				want := from
				if n.to != "" {
					want = at(t, n.to)
				}
				if got := time.Unix(0, h.Next(from.UnixNano())).UTC(); !got.Equal(want) {
					t.Errorf("Next(%v) = %v, want %v", from, got, want)
				}
			}
		})
	}
}

func TestHoursThatAreAlways(t *testing.T) {
	for _, h := range []Hours{
		{},
		hours(t, ""),
		hours(t, "Europe/Berlin"),
		hours(t, "Europe/Berlin", "00:00-24:00"),
		hours(t, "", "Mon-Fri 00:00-24:00", "Sat,Sun 12:00-24:00", "00:00-12:00"),
	} {
		if h != (Hours{}) || h.Next(monday) != monday {
			t.Errorf("%+v is not the zero value", h)
		}
	}
}

func TestHoursThatMeanTheSameAreEqual(t *testing.T) {
	a := hours(t, "Europe/Berlin", "Mon-Fri 09:00-17:00", "Sat 10:00-12:00")
	b := hours(t, "Europe/Berlin", "Sat 10:00-12:00", "Mon-Sun 09:00-10:00", "Mon,Tue,Wed,Thu,Fri 10:00-17:00")
	c := hours(t, "Europe/Berlin", "Sat,Sun 09:00-10:00", "Sat 10:00-12:00", "Mon-Fri 09:00-17:00")
	if a == b || b != c {
		t.Errorf("equal: %v and %v, want false and true", a == b, b == c)
	}
}

func TestHoursThatAreWrong(t *testing.T) {
	for _, tt := range []struct{ spec, zone, want string }{
		{"09:00-17:00", "Europe/Nowhere", `time zone "Europe/Nowhere"`},
		{"09:00-17:00", "Local", `time zone "Local"`},
		{"09:00-17:00", "../../etc/passwd", "time zone"},
		{"", "", "write days"},
		{"Mon 09:00-17:00 UTC", "", "write days"},
		{"Mon", "", `times "Mon"`},
		{"09:00", "", `times "09:00"`},
		{"9:00-17:00", "", `time "9:00"`},
		{"09:00-17", "", `time "17"`},
		{"09:00-25:00", "", `time "25:00"`},
		{"09:60-10:00", "", `time "09:60"`},
		{"+9:00-17:00", "", `time "+9:00"`},
		{"09:00-24:01", "", `time "24:01"`},
		{"24:00-06:00", "", "starts at 24:00"},
		{"09:00-09:00", "", "is empty"},
		{"Mo-Fr 09:00-17:00", "", `day "Mo"`},
		{"Mon- 09:00-17:00", "", `day ""`},
		{"Mon,,Fri 09:00-17:00", "", `day ""`},
		{"Mon-Wed-Fri 09:00-17:00", "", `day "Wed-Fri"`},
	} {
		_, err := ParseHours([]string{"00:00-01:00", tt.spec}, tt.zone)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseHours(%q, %q): %v, want %s", tt.spec, tt.zone, err, tt.want)
		}
	}
}

func TestAWaitThatEndsOutsideOfHoursGoesOnToTheirStart(t *testing.T) {
	h := newHost(t, Rules{Delay: time.Hour, Hours: hours(t, "", "22:00-06:00")})
	h.sleep(4*time.Hour + 30*time.Minute)
	h.ask(good)
	h.wantWait(time.Hour, Delay) // 05:30
	h.ask(good)
	h.wantWait(16*time.Hour+30*time.Minute, OutOfHours)
	h.sleep(3 * time.Hour)
	h.wantWait(13*time.Hour+30*time.Minute, OutOfHours)
}
