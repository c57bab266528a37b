package messages

// OpWanted is the question a fetcher asks the owner of a partition, on
// SubjectFrontier, with a Request as its payload: is its result still to come?
// The answer is Wanted.
const OpWanted = "wanted"

// Wanted answers OpWanted.
type Wanted struct {
	// Wanted says that the request is under way, and its result not known.
	Wanted bool `json:"wanted"`
	// Behind says that results are waiting to be applied: ask again.
	Behind bool `json:"behind,omitempty"`
}
