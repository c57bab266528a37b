package crawlspec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// NextRun returns when the schedule starts the crawl again after t; the zero
// time if there is no schedule, or it has no time left. It is the same for
// every caller, so that the frontiers need not agree on it.
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
	if strings.Contains(s.Schedule, "TZ=") { // the package takes it, and panics if nothing follows
		return time.Time{}, fmt.Errorf("%q: write the time zone into time_zone", s.Schedule)
	}
	c, err := cron.ParseStandard(s.Schedule)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: %w", s.Schedule, orMeant(s.Schedule, err))
	}
	return nextByClock(c, everyHour(s.Schedule), t.In(loc)), nil
}

// orMeant is an error of a schedule, or which one was meant that only lacks its @.
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

// inWords are schedules by what people write behind "every".
var inWords = map[string]string{
	"minute": "@every 1m", "hour": "@hourly", "day": "@daily", "night": "@daily", "week": "@weekly", "month": "@monthly", "year": "@yearly",
}

// everyHour reports whether the hour of a schedule has a star.
func everyHour(schedule string) bool {
	fields := strings.Fields(schedule)
	return schedule == "@hourly" || len(fields) > 1 && strings.Contains(fields[1], "*")
}

// nextByClock returns the first time after t that a schedule names, by the
// clocks of t's zone. Where they are put forward over such a time, that is the
// moment at which they are; where they are put back, only a schedule of every
// hour comes twice. So does cron; the package would leave the one out and do
// the other twice, and mistake the day where there is no midnight. Hence it is
// asked only about zones whose clocks nobody changes.
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
			after = next // the clocks have shown it before
		case next.Before(end.Add(forward(end))):
			return end
		default:
			after, within = end.Add(-1), end
		}
	}
}

// forward is how far the clocks of a zone are put forward at a moment.
func forward(change time.Time) time.Duration {
	_, before := change.Add(-1).Zone()
	_, now := change.Zone()
	return time.Duration(now-before) * time.Second
}

// AgainDue reports whether a run over everything is to start, if last is the one that was
// begun last, 0 for none. That of a cancelled crawl waits until it is resumed.
func (s *Spec) AgainDue(last int64) bool { return s.Again > last && s.State != Cancelled }
