package state

import (
	"encoding/binary"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// retryBase is the wait before the second attempt.
const retryBase = int64(time.Second)

// blockedWait is the minimum wait before another attempt for a page that was replaced by a
// challenge. The site has noticed the crawler, and forgets it in minutes, not in seconds.
const blockedWait = crawlspec.Duration(10 * time.Minute)

// retry makes the URL wait for another attempt, twice as long each time, unless it has had all
// attempts. The URL moves behind the other URLs of its host. Otherwise the oldest URL would get all
// the refusals of a host, and all the probes of one that is down.
//
// The time of the attempt is the host's earliest + back-off + jitter:
//   - The host's earliest is when politeness allows the next request (internal/schedule/politeness, State.Earliest). So the delay, the slowdown, Retry-After, the breaker and the hours of the host are added.
//   - The back-off is 1 s after the first failure and doubles with each, up to 1 h. It is at least the wait that on_status of the spec has for the response, and 10 min for a challenge for which the spec has no rule.
//   - The jitter is up to a quarter of the back-off.
//
// The number of attempts is that of on_status for the response. Otherwise it is max_attempts of the
// source or of the spec, which is 4 by default (crawlspec.DefaultMaxAttempts). See onStatus.
func (v *visits) retry(req *Request, res *messages.Result, rules *Rules, now int64) error {
	r, id := req.urlRecord, req.id
	rule, _ := rules.onStatus(res)
	if r.Failures >= rule.Attempts {
		if !res.Class.Retryable() {
			r.learn(res, 0, rules)
		}
		return v.fail(r, id, reasonOf(res), rules, now)
	}
	wait := min(retryBase<<min(max(r.Failures-1, 0), 12), int64(time.Hour))
	wait = max(wait, int64(rule.Wait))
	behind := v.time.earliest(&req.host.polite, &rules.paceOf(req.host.hostname()).Rules, now)
	r.Due = behind + wait + jitter(id, r.Sent, wait/4)
	v.urls.setState(r, id, urlRetried, r.leftOut(), now)
	return nil
}

// onStatus returns the number of attempts and the minimum wait for a URL with a response. ruled
// reports whether the spec has a rule for the response.
func (r *Rules) onStatus(res *messages.Result) (rule crawlspec.StatusRule, ruled bool) {
	rule, ruled = r.SourceStatusRule(r.SourceOf(weburl.Hostname(res.URL)), res.Class, res.Status)
	if !ruled && res.Class == messages.Blocked {
		rule.Wait = blockedWait
	}
	if rule.Attempts == 0 {
		rule.Attempts = r.limitsOf(res.URL).MaxAttempts
	}
	return rule, ruled
}

// retryable reports whether another attempt may follow a result: because of its class, or because a
// rule for its status allows more than one. The answer does not depend on the number of attempts,
// so a repeated result has the same meaning.
func (r *Rules) retryable(res *messages.Result) bool {
	if res.Class.Retryable() {
		return true
	}
	rule, ruled := r.onStatus(res)
	return ruled && rule.Attempts > 1
}

// jitter returns a time below span that is the same for the same attempt.
func jitter(id urlID, n int, span int64) int64 {
	if span <= 0 {
		return 0
	}
	x := binary.BigEndian.Uint64(id.hash[4:12]) + uint64(n)
	x *= 0x9E3779B97F4A7C15
	return int64((x ^ x>>32) % uint64(span))
}
