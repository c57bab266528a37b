package crawlspec

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that people write as "500ms", "1s", "2h".
type Duration time.Duration

// String returns the duration in the form that users write.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText encodes the duration as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts a duration with its unit; days may come first, as in "7d" or "1d12h".
func (d *Duration) UnmarshalText(text []byte) error {
	bad := fmt.Errorf("duration %q: write a number and a unit, such as 500ms, 1s, 2h or 7d", text)
	rest, days := string(text), 0
	n, after, hasDays := strings.Cut(rest, "d")
	if hasDays {
		var err error
		if days, err = strconv.Atoi(n); err != nil || days < 0 || days > maxDays {
			return bad
		}
		rest = after
	}
	v := time.Duration(0)
	if rest != "" || !hasDays {
		var err error
		if v, err = time.ParseDuration(rest); err != nil {
			return bad
		}
	}
	sum := time.Duration(days)*24*time.Hour + v
	if hasDays && (v < 0 || sum < 0) { // the sum overflows
		return bad
	}
	*d = Duration(sum)
	return nil
}

// maxDays keeps durations far from the limit of int64.
const maxDays = 36_500

// Bytes is a size that people write as "512KiB", "32MiB", "1GB" or in plain
// bytes.
type Bytes int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// String returns the size in the largest binary unit that is exact.
func (b Bytes) String() string {
	unit := "B"
	n := int64(b)
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return strconv.FormatInt(n, 10) + unit
}

// MarshalText encodes the size as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText accepts a size with or without a unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.factor {
			break
		}
		*b = Bytes(n * u.factor)
		return nil
	}
	return fmt.Errorf("size %q: write a whole number and a unit, such as 512KiB, 32MiB or 1GB", text)
}
