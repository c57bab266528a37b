package crawlspec

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationText(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "1s": time.Second, "2h": 2 * time.Hour, "1m30s": 90 * time.Second, "0": 0, "1.5s": 1500 * time.Millisecond,
		"7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "1d0s": 24 * time.Hour, "36500d": 36500 * 24 * time.Hour, "-1h": -time.Hour,
	} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "1", "1 s", "soon", "9999999h", "d", "-1d", "1.5d", "1d ", "1d-1h", "1h1d", "1d1d", "36501d", "99999999999999999999d", "36500d2000000h"} {
		var d Duration
		err := d.UnmarshalText([]byte(text))
		if want := `duration "` + text + `": write a number and a unit, such as 500ms, 1s, 2h or 7d`; err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64().Draw(t, "d"))
		text, _ := d.MarshalText()
		var got Duration
		if err := got.UnmarshalText(text); err != nil || got != d {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
	})
}

func TestBytesText(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "512": 512, "512B": 512, "512KiB": 512 << 10, "32MiB": 32 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40,
		"1kB": 1000, "1KB": 1000, "1MB": 1e6, "1GB": 1e9, "1TB": 1e12, " 1 MiB ": 1 << 20,
	} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "B", "KiB", "-1", "-1KiB", "1.5MiB", "1 XB", "1e6", "0x10", "5000000TiB", "9223372036854775808"} {
		var b Bytes
		err := b.UnmarshalText([]byte(text))
		if want := `size "` + text + `": write a whole number and a unit, such as 512KiB, 32MiB or 1GB`; err == nil || err.Error() != want {
			t.Errorf("%q: %d, %v", text, b, err)
		}
	}
	for b, want := range map[Bytes]string{0: "0B", 1: "1B", 1000: "1000B", 1024: "1KiB", 1536: "1536B", 32 << 20: "32MiB", 1 << 50: "1024TiB"} {
		if b.String() != want {
			t.Errorf("%d is written %s, want %s", int64(b), b, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Int64Range(0, 1<<62).Draw(t, "b"))
		text, _ := b.MarshalText()
		var got Bytes
		if err := got.UnmarshalText(text); err != nil || got != b {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
	})
}
