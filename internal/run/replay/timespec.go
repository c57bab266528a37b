package replay

import (
	"fmt"
	"time"

	"seine/pkg/crawlspec"
)

// TimeSpec is a time as a user types it: a date, a date with a time, or an age. It keeps the typed
// form, so that a repeated command has the same digest.
type TimeSpec string

// layouts are the formats of a date. Those without a zone are in local time.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *TimeSpec) UnmarshalText(text []byte) error {
	*m = TimeSpec(text)
	_, err := m.At(time.Now())
	return err
}

// At returns the time relative to now, the zero time for "".
func (m TimeSpec) At(now time.Time) (time.Time, error) {
	if m == "" {
		return time.Time{}, nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, string(m), time.Local); err == nil {
			return t, nil
		}
	}
	var ago crawlspec.Duration
	if err := ago.UnmarshalText([]byte(m)); err != nil || ago < 0 {
		return time.Time{}, fmt.Errorf("%q: must be how long ago, as 90m or 2d, or a time such as 2026-11-21, 2026-11-21T10:00 or 2026-11-21T10:00:00Z", string(m))
	}
	return now.Add(-time.Duration(ago)), nil
}
