package top

import (
	"fmt"
	"strings"
	"time"

	"seine/internal/base/safeprint"
)

// clean escapes control characters and bidirectional marks, since names, URLs and errors come from
// sites.
func clean(s string) string { return safeprint.Text(s) }

// short formats a count in at most five characters.
func short(n int64) string {
	const units = "kMGTPE"
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	v, u := float64(n), -1
	for v >= 999.5 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.3g%c", v, units[u])
}

func milliseconds(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 100_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(ms)/1000), ".0") + " s"
	case ms < 6_000_000:
		return fmt.Sprintf("%d min", ms/60_000)
	}
	return fmt.Sprintf("%d h", ms/3_600_000)
}

// until formats the time from now to t.
func until(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d <= 0:
		return "now"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < 10*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// clock formats the time of day.
func clock(ms int64) string { return time.UnixMilli(ms).Local().Format(time.TimeOnly) }
