package stages

import (
	"seine/internal/weburl"
	"seine/pkg/messages"
)

// Normalizer compiles a spec's rules for what URLs are one; nil if there are none.
func Normalizer(spec *messages.Spec) *weburl.Normalizer {
	return weburl.NewNormalizer(weburl.NormalizeOptions{
		DropTracking: spec.Normalize.DropTracking, DropSessions: spec.Normalize.DropSessions,
		DropParameters: spec.Normalize.DropParameters, SortQuery: spec.Normalize.SortQuery,
	})
}
