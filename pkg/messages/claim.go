package messages

import (
	"cmp"
	"encoding/json"
	"time"

	"seine/internal/base/jsontext"
)

// OpClaim is the question a fetcher asks the owner of a partition, on
// SubjectFrontier, with a Request as its payload: is its result still to come?
// The answer is ClaimReply.
const OpClaim = "claim"

// HeaderClaimant is a header of that question: a name for who asks, the same when it asks again.
// Of those who ask for the same request, one at a time is granted it.
const HeaderClaimant = "Seine-Claimant"

// Old names of the question and of its header. Fetchers of this release ask by them, since frontiers of the release
// before know no others (docs/wire.md, "Names that change").
const (
	OldOpClaim        = "wanted"
	OldHeaderClaimant = "Seine-Asker"
)

// Claimant returns who asks, from the header of the question, which may have its old name.
func Claimant(header interface{ Get(name string) string }) string {
	return cmp.Or(header.Get(HeaderClaimant), header.Get(OldHeaderClaimant))
}

// How long an answer counts. Two that hold the same request must not both send it.
const (
	// ClaimStartWindow is how long after it who asked may begin with the request: enough to
	// connect to a slow host.
	ClaimStartWindow = 25 * time.Second
	claimMargin      = 5 * time.Second
)

// ClaimTTL is for how long nobody else is granted a request that may take as
// long as timeout: by then, who began at the end of ClaimStartWindow has ended, or died.
func ClaimTTL(timeout time.Duration) time.Duration { return ClaimStartWindow + timeout + claimMargin }

// ClaimReply answers OpClaim.
type ClaimReply struct {
	// Error says why there is no answer.
	Error string
	// Granted says that the request is under way, its result not known, and who asks may send it.
	Granted bool
	// Retry says that results are waiting to be applied, or that another was granted
	// the request a moment ago: ask again.
	Retry bool
}

// claimReplyJSON is a ClaimReply with its old names: Wanted is Granted, and Behind is Retry.
type claimReplyJSON struct {
	Error   string `json:"error,omitempty"`
	Granted bool   `json:"granted"`
	Retry   bool   `json:"retry,omitempty"`
	Wanted  bool   `json:"wanted"`
	Behind  bool   `json:"behind,omitempty"`
}

// MarshalJSON encodes the reply under its names and its old ones.
func (r ClaimReply) MarshalJSON() ([]byte, error) {
	return json.Marshal(claimReplyJSON{r.Error, r.Granted, r.Retry, r.Granted, r.Retry})
}

// UnmarshalJSON decodes a reply that has its names, its old ones, or both.
func (r *ClaimReply) UnmarshalJSON(text []byte) error {
	var j claimReplyJSON
	err := jsontext.Unmarshal(text, &j)
	*r = ClaimReply{j.Error, j.Granted || j.Wanted, j.Retry || j.Behind}
	return err //nolint:wrapcheck // json's words
}
