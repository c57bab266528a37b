package state

import (
	"testing"
	"time"
)

func TestSlackIsATwentiethOfTheShortestDelayOfWhatWasAskedLately(t *testing.T) {
	const second = int64(time.Second)
	for name, c := range map[string]struct {
		delays []time.Duration
		after  int64 // since the last request
		want   time.Duration
	}{
		"little is asked":       {repeated(time.Second, 15), 0, 0},
		"hosts rest a second":   {repeated(time.Second, 16), 0, 50 * time.Millisecond},
		"hosts rest a minute":   {repeated(time.Minute, 16), 0, 50 * time.Millisecond},
		"hosts rest 200 ms":     {repeated(200*time.Millisecond, 16), 0, 10 * time.Millisecond},
		"hosts rest 50 ms":      {repeated(50*time.Millisecond, 16), 0, 0},
		"no host rests":         {repeated(0, 16), 0, 0},
		"one of them does not":  {append(repeated(time.Second, 40), 0), 0, 0},
		"in the second before":  {repeated(time.Second, 16), second, 50 * time.Millisecond},
		"two seconds have gone": {repeated(time.Second, 16), 2 * second, 0},
	} {
		s := &Requests{pacer: new(pacer)}
		now := 1000 * second
		for _, d := range c.delays {
			now++
			s.pacer.delays.asked(d, now)
		}
		if got := time.Duration(s.Slack(now + c.after)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A host that is due again soon ends the wait. The wait returns when no such host had a request for
// two seconds.
func TestSlackEndsWithAHostThatDoesNotRest(t *testing.T) {
	s := &Requests{pacer: new(pacer)}
	now := int64(time.Hour)
	ask := func(delay time.Duration) {
		for range 20 {
			now += int64(50 * time.Millisecond)
			s.pacer.delays.asked(delay, now)
		}
	}
	ask(time.Second)
	if s.Slack(now) == 0 {
		t.Error("no slack where all hosts rest")
	}
	ask(0)
	ask(time.Second)
	if slack := s.Slack(now); slack != 0 {
		t.Errorf("slack %v within a second of a host that does not rest", time.Duration(slack))
	}
	ask(time.Second)
	ask(time.Second)
	if s.Slack(now) == 0 {
		t.Error("no slack two seconds later")
	}
}

func repeated(d time.Duration, n int) (all []time.Duration) {
	for range n {
		all = append(all, d)
	}
	return all
}
