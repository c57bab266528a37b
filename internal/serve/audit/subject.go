package audit

import "context"

// Subject is the action of a write and its object. The handler sets it.
type Subject struct {
	Action string `json:"action,omitempty"` // operation of the API, such as "pause-crawl"
	Crawl  string `json:"crawl,omitempty"`
	Object string `json:"object,omitempty"` // such as "host example.org"
}

type subjectKey struct{}

// WithSubject returns a context with a subject for SubjectOf.
func WithSubject(ctx context.Context, s *Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// SubjectOf returns the subject of a request, to be set by its handler. Outside of a request it
// returns a new one.
func SubjectOf(ctx context.Context) *Subject {
	if s, ok := ctx.Value(subjectKey{}).(*Subject); ok {
		return s
	}
	return new(Subject)
}
