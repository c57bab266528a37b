package state

import "time"

// hostDelays is the shortest delay of the hosts with recent requests.
type hostDelays struct {
	now, before hostDelaySpan // the current span and the one before
}

// hostDelaySpan describes the requests in a span of time.
type hostDelaySpan struct {
	began    int64
	requests int
	shortest time.Duration
}

// hostDelayTime is the length of a span.
const hostDelayTime = int64(time.Second)

func (s *hostDelays) asked(delay time.Duration, now int64) {
	s.roll(now)
	if s.now.requests++; s.now.requests == 1 || delay < s.now.shortest {
		s.now.shortest = delay
	}
}

func (s *hostDelays) roll(now int64) {
	if now-s.now.began < hostDelayTime {
		return
	}
	if s.before = s.now; now-s.before.began >= 2*hostDelayTime {
		s.before = hostDelaySpan{}
	}
	s.now = hostDelaySpan{began: now}
}

const (
	// busyRequests is the minimum number of requests within two seconds for incoming messages to
	// wait. A small crawl gains nothing by that.
	busyRequests = 16
	// maxSlack limits the wait, which is a twentieth of the delay. A wait below minSlack is not
	// worthwhile.
	maxSlack, minSlack = int64(50 * time.Millisecond), int64(5 * time.Millisecond)
)

// Slack returns how long a message may wait to be applied, in ns. It is positive if all hosts with
// recent requests have much longer delays: a delay counts from the end of the response, not from
// when its result is applied. It is 0 if a host may be due again soon, or if requests are few.
func (rq *Requests) Slack(now int64) int64 {
	rq.pacer.delays.roll(now)
	a, b := rq.pacer.delays.now, rq.pacer.delays.before
	if a.requests+b.requests < busyRequests {
		return 0
	}
	shortest := a.shortest
	if a.requests == 0 || b.requests > 0 && b.shortest < shortest {
		shortest = b.shortest
	}
	if slack := min(int64(shortest)/20, maxSlack); slack >= minSlack {
		return slack
	}
	return 0
}
