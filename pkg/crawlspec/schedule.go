package crawlspec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// NextRun returns when the schedule starts the crawl next after t; the zero time if there is no
// schedule, or no start is left. It depends only on its arguments, so frontiers need no
// coordination.
func (s *Spec) NextRun(t time.Time) (time.Time, error) {
	if s.Schedule == "" {
		return time.Time{}, nil
	}
	loc, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return time.Time{}, fmt.Errorf("time_zone %q: must be an IANA name such as Europe/Paris", s.TimeZone)
	}
	if text, ok := strings.CutPrefix(s.Schedule, "@every "); ok {
		var every Duration
		if err := every.UnmarshalText([]byte(text)); err != nil || every < Duration(time.Second) {
			return time.Time{}, fmt.Errorf("%q: %w", s.Schedule, orMeant(s.Schedule, errors.New("@every takes a duration of at least 1s, such as 6h")))
		}
		n := int64(every)
		return time.Unix(0, (t.UnixNano()/n+1)*n).UTC(), nil
	}
	if strings.Contains(s.Schedule, "TZ=") { // the package accepts it, and panics if nothing follows
		return time.Time{}, fmt.Errorf("%q: write the time zone into time_zone", s.Schedule)
	}
	c, err := cron.ParseStandard(s.Schedule)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: %w", s.Schedule, orMeant(s.Schedule, err))
	}
	return nextByClock(c, everyHour(s.Schedule), t.In(loc)), nil
}

// orMeant returns err, or an error that suggests the schedule that was probably meant.
func orMeant(schedule string, err error) error {
	if every, ok := strings.CutPrefix(strings.TrimPrefix(strings.ToLower(schedule), "@"), "every "); ok {
		if name := inWords[every]; name != "" {
			return fmt.Errorf("did you mean \"%s\"?", name)
		}
		if meant := "@every " + every; meant != schedule && new(Duration).UnmarshalText([]byte(every)) == nil {
			return fmt.Errorf("did you mean \"%s\"?", meant)
		}
	}
	if name := "@" + strings.ToLower(strings.TrimPrefix(schedule, "@")); name != schedule {
		if _, no := cron.ParseStandard(name); no == nil {
			return fmt.Errorf("did you mean \"%s\"?", name)
		}
	}
	return err
}

// inWords are schedules by what users write after "every".
var inWords = map[string]string{
	"minute": "@every 1m", "hour": "@hourly", "day": "@daily", "night": "@daily", "week": "@weekly", "month": "@monthly", "year": "@yearly",
}

// everyHour reports whether the hour of a schedule has a star.
func everyHour(schedule string) bool {
	fields := strings.Fields(schedule)
	return schedule == "@hourly" || len(fields) > 1 && strings.Contains(fields[1], "*")
}

// nextByClock returns the first time after t that a schedule names, by the clocks of t's zone. If
// the clocks are put forward over such a time, it is the moment of that change. If they are put
// back, only a schedule of every hour runs twice. cron behaves the same way. The package would omit
// the former time, repeat the latter, and mistake the day if there is no midnight. So it is used
// only with zones of a fixed offset.
func nextByClock(c cron.Schedule, everyHour bool, t time.Time) time.Time {
	after, within := t, t
	for {
		start, end := within.ZoneBounds()
		_, offset := within.Zone()
		next := c.Next(after.In(time.FixedZone("", offset)))
		switch {
		case next.IsZero():
			return next
		case end.IsZero() || next.Before(end):
			if everyHour || start.IsZero() || !next.Before(start.Add(-forward(start))) {
				return next.In(t.Location())
			}
			after = next // the clocks have shown this time before
		case next.Before(end.Add(forward(end))):
			return end
		default:
			after, within = end.Add(-1), end
		}
	}
}

// forward returns how far the clocks of a zone are put forward at a moment.
func forward(change time.Time) time.Duration {
	_, before := change.Add(-1).Zone()
	_, now := change.Zone()
	return time.Duration(now-before) * time.Second
}

// AgainDue reports whether a run over all URLs should start, if last is the last one that was
// begun, 0 for none. A cancelled crawl waits until it is resumed.
func (s *Spec) AgainDue(last int64) bool { return s.Again > last && s.State != Cancelled }
