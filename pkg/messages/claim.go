package messages

import "time"

// OpClaim is the query by which a fetcher asks the owner of a partition whether the result of a
// request is still missing. It is sent on SubjectFrontier with a Request as its payload. The answer
// is ClaimReply.
const OpClaim = "claim"

// HeaderClaimant is a header of that query: the name of the fetcher, the same in each retry. The
// frontier grants a request to one fetcher at a time.
const HeaderClaimant = "Seine-Claimant"

// How long an answer is valid. Two fetchers with the same request must not both send it.
const (
	// ClaimStartWindow is how long after the answer the claimant may begin the request: enough to
	// connect to a slow host.
	ClaimStartWindow = 25 * time.Second
	claimMargin      = 5 * time.Second
)

// ClaimTTL is how long no other fetcher is granted a request with this timeout: by then, a fetcher
// that began at the end of ClaimStartWindow has finished or died.
func ClaimTTL(timeout time.Duration) time.Duration { return ClaimStartWindow + timeout + claimMargin }

// ClaimReply is the answer to OpClaim.
type ClaimReply struct {
	// Error is why there is no answer.
	Error string `json:"error,omitempty"`
	// Granted means that the request is in flight without a known result, and that the claimant may
	// send it.
	Granted bool `json:"granted"`
	// Retry means that results are still to be applied, or that another claimant was just granted
	// the request: ask again.
	Retry bool `json:"retry,omitempty"`
}
