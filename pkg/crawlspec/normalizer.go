package crawlspec

import (
	"seine/internal/base/weburl"
)

// Normalizer compiles the rules for what URLs are one; nil if there are none.
func (s *Spec) Normalizer() *weburl.Normalizer {
	return weburl.NewNormalizer(s.NormalizeOptions())
}

// NormalizeOptions are the rules for what URLs are one. The parameters that hold
// a secret in a request rule are in no URL: a site that writes one into a link or a
// redirect means the URL without it, to which the rule adds it again.
func (s *Spec) NormalizeOptions() weburl.NormalizeOptions {
	return weburl.NormalizeOptions{
		DropTracking: s.Normalize.DropTracking, DropSessions: s.Normalize.DropSessions,
		DropParameters: s.Normalize.DropParameters, SortQuery: s.Normalize.SortQuery,
		DropMatching: secretParameters(s),
		KeepRoutes:   s.Normalize.HashRoutes && s.MayRender(), // without a browser, all routes are the same document
	}
}

// Canonical returns the canonical form of a URL, with its route (weburl.Route) if that belongs to it.
func Canonical(s *Spec, url string) (string, error) {
	if s.NormalizeOptions().KeepRoutes {
		return weburl.CanonicalizeRoute(url)
	}
	return weburl.Canonicalize(url)
}

// SecretNormalizer takes only the parameters that hold a secret from URLs; nil if there
// are none.
func (s *Spec) SecretNormalizer() *weburl.Normalizer {
	secret := secretParameters(s)
	return weburl.NewNormalizer(weburl.NormalizeOptions{DropMatching: secret, KeepRoutes: len(secret) > 0})
}

// secretParameters has an entry for each request rule, as of the rules that a URL
// matches the first holds; nil if none of them hides a parameter.
func secretParameters(s *Spec) []weburl.DropMatching {
	var all []weburl.DropMatching
	hidden := 0
	for i := range s.Requests {
		r := &s.Requests[i]
		match, err := CompilePattern(r.Match)
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
