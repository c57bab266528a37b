package state

import (
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Claim answers a fetcher that was given a request again, ask. Only when every result in
// the stream has been applied is it certain that there is none: upToDate reports that.
func (s *Partition) Claim(ask *messages.Request, claimant string, upToDate func() bool) messages.ClaimReply {
	if s.replaying {
		return messages.ClaimReply{Retry: true}
	}
	req := s.inFlight[urlID{ask.Crawl, ask.Visit.URL}]
	if req == nil || req.Round != ask.Visit.Round || req.Sent != ask.Attempt {
		return messages.ClaimReply{}
	}
	if !upToDate() {
		return messages.ClaimReply{Retry: true}
	}
	return req.tryClaim(claimant, s.time.clock.Now(), messages.ClaimTTL(s.timeout(ask.Crawl)))
}

// timeout is how long a request of a crawl may take.
func (s *Partition) timeout(crawl string) time.Duration {
	if c := s.crawls[crawl]; c != nil && c.rules != nil {
		return time.Duration(c.rules.Largest().Timeout)
	}
	return time.Duration(crawlspec.DefaultTimeout)
}

// tryClaim grants the request to one claimant at a time: two may hold it, each
// in the belief that the other is gone.
func (r *Request) tryClaim(claimant string, now int64, ttl time.Duration) messages.ClaimReply {
	if r.claimant != "" && r.claimant != claimant && now < r.claimed+int64(ttl) {
		return messages.ClaimReply{Retry: true}
	}
	r.claimant, r.claimed = claimant, now
	return messages.ClaimReply{Granted: true}
}
