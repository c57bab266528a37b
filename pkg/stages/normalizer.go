package stages

import (
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// Normalizer compiles a spec's rules for what URLs are one; nil if there are none.
func Normalizer(spec *crawlspec.Spec) *weburl.Normalizer {
	return weburl.NewNormalizer(NormalizeOptions(spec))
}

// NormalizeOptions are a spec's rules for what URLs are one. The parameters that hold
// a secret in a request rule are in no URL: a site that writes one into a link or a
// redirect means the URL without it, to which the rule adds it again.
func NormalizeOptions(spec *crawlspec.Spec) weburl.NormalizeOptions {
	return weburl.NormalizeOptions{
		DropTracking: spec.Normalize.DropTracking, DropSessions: spec.Normalize.DropSessions,
		DropParameters: spec.Normalize.DropParameters, SortQuery: spec.Normalize.SortQuery,
		DropMatching: secretParameters(spec),
	}
}

// SecretNormalizer takes only the parameters that hold a secret from URLs; nil if the
// spec has none.
func SecretNormalizer(spec *crawlspec.Spec) *weburl.Normalizer {
	return weburl.NewNormalizer(weburl.NormalizeOptions{DropMatching: secretParameters(spec)})
}

// secretParameters has an entry for each request rule, as of the rules that a URL
// matches the first holds; nil if none of them hides a parameter.
func secretParameters(spec *crawlspec.Spec) []weburl.DropMatching {
	var all []weburl.DropMatching
	hidden := 0
	for i := range spec.Requests {
		r := &spec.Requests[i]
		match, err := crawlspec.CompilePattern(r.Match)
		if err != nil {
			panic(err) // the spec is valid
		}
		names := r.SecretParameters()
		if all = append(all, weburl.DropMatching{Match: match, Parameters: names}); len(names) > 0 {
			hidden = len(all)
		}
	}
	return all[:hidden]
}
