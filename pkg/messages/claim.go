package messages

import "time"

// OpClaim is the question a fetcher asks the owner of a partition, on
// SubjectFrontier, with a Request as its payload: is its result still to come?
// The answer is ClaimReply.
const OpClaim = "wanted"

// HeaderClaimant is a header of that question: a name for who asks, the same when it asks again.
// Of those who ask for the same request, one at a time is told that it is wanted.
const HeaderClaimant = "Seine-Asker"

// How long an answer counts. Two that hold the same request must not both send it.
const (
	// ClaimStartWindow is how long after it who asked may begin with the request: enough to
	// connect to a slow host.
	ClaimStartWindow = 25 * time.Second
	claimMargin      = 5 * time.Second
)

// ClaimTTL is for how long nobody else is told the same of a request that may take as
// long as timeout: by then, who began at the end of ClaimStartWindow has ended, or died.
func ClaimTTL(timeout time.Duration) time.Duration { return ClaimStartWindow + timeout + claimMargin }

// ClaimReply answers OpClaim.
type ClaimReply struct {
	// Error says why there is no answer.
	Error string `json:"error,omitempty"`
	// Wanted says that the request is under way, and its result not known.
	Wanted bool `json:"wanted"`
	// Behind says that results are waiting to be applied, or that another was told a
	// moment ago that it is wanted: ask again.
	Behind bool `json:"behind,omitempty"`
}
