package replay

import "crypto/sha256"

// recentIDs holds the identities of at least the last idsKept records. A page that is parsed again
// is one of the last maxAhead pages, so its records are among them.
type recentIDs struct{ now, before map[[16]byte]struct{} }

const idsKept = 1 << 20

// add adds an identity, and reports whether it was known.
func (r *recentIDs) add(id string) bool {
	sum := sha256.Sum256([]byte(id))
	key := [16]byte(sum[:16])
	_, now := r.now[key]
	_, before := r.before[key]
	if r.now == nil || len(r.now) == idsKept {
		r.now, r.before = make(map[[16]byte]struct{}), r.now
	}
	r.now[key] = struct{}{}
	return now || before
}
