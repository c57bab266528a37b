package state

import (
	"time"

	"seine/pkg/messages"
)

// Claim answers a fetcher that received a request again. It grants the claim only if no result
// exists, which is certain only when every result in the stream has been applied: upToDate reports
// that.
func (rq *Requests) Claim(ask *messages.Request, claimant string, upToDate func() bool) messages.ClaimReply {
	if rq.replaying {
		return messages.ClaimReply{Retry: true}
	}
	req := rq.urls.inFlight[urlID{ask.Crawl, ask.Visit.URL}]
	if req == nil || req.Round != ask.Visit.Round || req.Sent != ask.Attempt {
		return messages.ClaimReply{}
	}
	if !upToDate() {
		return messages.ClaimReply{Retry: true}
	}
	return req.tryClaim(claimant, rq.time.clock.Now(), messages.ClaimTTL(rq.crawls.timeout(ask.Crawl)))
}

// tryClaim grants the request to one claimant at a time. Two fetchers may hold it, each in the
// belief that the other is gone.
func (r *Request) tryClaim(claimant string, now int64, ttl time.Duration) messages.ClaimReply {
	if r.claimant != "" && r.claimant != claimant && now < r.claimed+int64(ttl) {
		return messages.ClaimReply{Retry: true}
	}
	r.claimant, r.claimed = claimant, now
	return messages.ClaimReply{Granted: true}
}
