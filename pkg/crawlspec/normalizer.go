package crawlspec

import (
	"seine/internal/base/weburl"
)

// Normalizer returns the compiled rules for equal URLs; nil if there are none.
func (s *Spec) Normalizer() *weburl.Normalizer {
	return weburl.NewNormalizer(s.NormalizeOptions())
}

// NormalizeOptions returns the rules for equal URLs. URLs never contain the parameters that hold a
// secret in a request rule: if a site writes one into a link or a redirect, the URL without it is
// meant, and the rule adds it again.
func (s *Spec) NormalizeOptions() weburl.NormalizeOptions {
	return weburl.NormalizeOptions{
		DropTracking: s.Normalize.DropTracking, DropSessions: s.Normalize.DropSessions,
		DropParameters: s.Normalize.DropParameters, SortQuery: s.Normalize.SortQuery,
		DropMatching: secretParameters(s),
		KeepRoutes:   s.Normalize.HashRoutes && s.MayRender(), // without a browser, all routes are the same document
	}
}

// Canonical returns the canonical form of a URL, with its route (weburl.Route) if the spec keeps
// routes.
func Canonical(s *Spec, url string) (string, error) {
	if s.NormalizeOptions().KeepRoutes {
		return weburl.CanonicalizeRoute(url)
	}
	return weburl.Canonicalize(url)
}

// SecretNormalizer returns a normalizer that removes only the parameters with secrets; nil if there
// are none.
func (s *Spec) SecretNormalizer() *weburl.Normalizer {
	secret := secretParameters(s)
	return weburl.NewNormalizer(weburl.NormalizeOptions{DropMatching: secret, KeepRoutes: len(secret) > 0})
}

// secretParameters has an entry for each request rule, since the first rule that matches a URL
// applies; nil if no rule hides a parameter.
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
