package messages

import "time"

// OpClaim is the question a fetcher asks the owner of a partition, on
// SubjectFrontier, with a Request as its payload: is its result still to come?
// The answer is ClaimReply.
const OpClaim = "claim"

// HeaderClaimant is a header of that query: the name of the fetcher, the same in each repeat.
// Of the fetchers that ask for the same request, one at a time is granted it.
const HeaderClaimant = "Seine-Claimant"

// How long an answer counts. Two that hold the same request must not both send it.
const (
	// ClaimStartWindow is how long after it who asked may begin with the request: enough to
	// connect to a slow host.
	ClaimStartWindow = 25 * time.Second
	claimMargin      = 5 * time.Second
)

// ClaimTTL is for how long no other fetcher is granted a request that may take as
// long as timeout: by then, a fetcher that began at the end of ClaimStartWindow has ended, or died.
func ClaimTTL(timeout time.Duration) time.Duration { return ClaimStartWindow + timeout + claimMargin }

// ClaimReply answers OpClaim.
type ClaimReply struct {
	// Error says why there is no answer.
	Error string `json:"error,omitempty"`
	// Granted says that the request is in flight, its result not known, and that the claimant may send it.
	Granted bool `json:"granted"`
	// Retry says that results are still to be applied, or that another claimant was granted
	// the request a moment ago: ask again.
	Retry bool `json:"retry,omitempty"`
}
