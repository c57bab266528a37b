package crawlspec

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"seine/pkg/messages"
)

// StatusRule is the treatment of a URL that answered with a status or a challenge.
type StatusRule struct {
	// Wait is the least time before the next attempt, in addition to that of the class; the default is 0s.
	Wait Duration `json:"wait,omitempty"`
	// Attempts is how often the URL is tried before it has failed, 1 to 100; 1 is the end
	// of it. Without it, MaxAttempts.
	Attempts int `json:"attempts,omitempty"`
}

// StatusRules are rules by status: "403", "5xx" for all that begin with a 5, or "blocked"
// for a challenge with any status.
type StatusRules map[string]StatusRule

// OnBlocked is the key of StatusRules for the class Blocked.
const OnBlocked = "blocked"

// maxStatusWait is the longest StatusRule.Wait.
const maxStatusWait = Duration(24 * time.Hour)

// of returns the rule for a response, preferring that for its exact status.
func (r StatusRules) of(class messages.Class, status int) (StatusRule, bool) {
	var keys []string
	switch class {
	case messages.Blocked:
		keys = []string{OnBlocked}
	case messages.ClientError, messages.Gone, messages.Throttled, messages.ServerError:
		code := strconv.Itoa(status)
		keys = []string{code, code[:1] + "xx"}
	default:
	}
	for _, key := range keys {
		if rule, ok := r[key]; ok {
			return rule, true
		}
	}
	return StatusRule{}, false
}

func (r StatusRules) check(p *Problems, path string) {
	for _, key := range slices.Sorted(maps.Keys(r)) {
		rule, at := r[key], path+"."+messages.Clip(key)
		if code, err := strconv.Atoi(key); key != "4xx" && key != "5xx" && key != OnBlocked && (err != nil || code < 400 || code > 599 || len(key) != 3) {
			p.Addf(at, "must be a status from 400 to 599, 4xx, 5xx, or blocked")
		}
		if rule.Attempts < 0 || rule.Attempts > 100 {
			p.Addf(at+".attempts", "%d: must be from 1 to 100 (1 means no retry)", rule.Attempts)
		}
		between(p, at+".wait", rule.Wait, 0, maxStatusWait)
	}
}

// SourceStatusRule returns the rule for a response of a host of source i, or of a host without a
// source if i is -1. Rules of the source take precedence over those of the crawl.
func (s *Spec) SourceStatusRule(i int, class messages.Class, status int) (StatusRule, bool) {
	if i >= 0 {
		if rule, ok := s.Sources[i].OnStatus.of(class, status); ok {
			return rule, true
		}
	}
	return s.OnStatus.of(class, status)
}
