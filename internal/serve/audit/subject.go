package audit

import "context"

// Subject is what a write does, and to what. Its handler fills it in.
type Subject struct {
	Action string `json:"action,omitempty"` // operation of the API, such as "pause-crawl"
	Crawl  string `json:"crawl,omitempty"`
	Object string `json:"object,omitempty"` // such as "host example.org"
}

type subjectKey struct{}

// WithSubject returns a context in which SubjectOf finds the subject.
func WithSubject(ctx context.Context, s *Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// SubjectOf returns the subject of a request, to be filled in. Outside a request it is a new one.
func SubjectOf(ctx context.Context) *Subject {
	if s, ok := ctx.Value(subjectKey{}).(*Subject); ok {
		return s
	}
	return new(Subject)
}
