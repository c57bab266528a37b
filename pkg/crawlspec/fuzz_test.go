package crawlspec

import (
	"bytes"
	"testing"
	"time"
)

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte("scope: host\ninclude: ['*']\ndelay: 1s\nmax_depth: 3\nmax_body: 1MiB\n"))
	f.Add([]byte("v: 1\nexclude:\n- re:x\nrobots: ignore\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte(everyKey))
	f.Add([]byte("schedule: TZ=0\n"))
	f.Add([]byte("schedule: '@every 6h'\ntime_zone: Asia/Tokyo\nmax_duration: 1d12h\nrate: 1e3/1h\n"))
	f.Add([]byte("render: auto\n"))
	f.Add([]byte("render: {mode: always, modes: [{match: '*', mode: never}], block: {types: []}, click: [{selector: a}]}\n"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSpec(b)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("%q is read but not valid: %v", b, err)
		}
		once := s.Encode()
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("%q decodes, but not as written again:\n%s\n%v", b, once, err)
		}
		if twice := again.Encode(); !bytes.Equal(once, twice) {
			t.Fatalf("%q became\n%s\nand then\n%s", b, once, twice)
		}
	})
}

func FuzzRate(f *testing.F) {
	for _, text := range []string{"10/s", "30/m", "1/5s", "0.5/s", "1e6/s", "1/24h", "", "-1/s", "1/0s", "0x1p4/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r, again Rate
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		p := DefaultPoliteness()
		if p.Rate = r; p.check() != nil {
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
