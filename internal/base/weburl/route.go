package weburl

import (
	"errors"
	"strings"
)

// fragmentBytes classifies by the fragment percent-encode set.
var fragmentBytes = classify("\"<>`", "", "")

// Route returns the fragment of a URL or reference, from its "#" on, if it looks like the route of an application in the page, as
// "#/items" and "#!items" do; else "". The route "#/" is the page without one.
func Route(raw string) string {
	_, fragment, _ := strings.Cut(raw, "#")
	fragment = strings.TrimRight(fragment, "\x00\t\n\f\r ")
	if fragment == "" || fragment[0] != '/' && fragment[0] != '!' || strings.Trim(fragment, "!/") == "" {
		return ""
	}
	out, _, ok := appendEncoded([]byte{'#'}, fragment, &fragmentBytes)
	if !ok {
		return ""
	}
	return string(out)
}

// CanonicalizeRoute is [Canonicalize] for crawls that know pages by their routes too: it keeps the [Route].
func CanonicalizeRoute(raw string) (string, error) {
	u, err := Canonicalize(raw)
	return withRoute(u, raw, err)
}

// ErrCredentials says that a URL has a user name or a password, which no request would send.
var ErrCredentials = errors.New(`a URL must not have a user name or password: set them in the spec, as in sources: [{hosts: [HOST], auth: {user: USER, password: "{secret:NAME}"}}]`)

// CanonicalizeSeed is CanonicalizeRoute for URLs that people name: it refuses those with credentials, which links lose.
func CanonicalizeSeed(raw string) (string, error) {
	u, err := CanonicalizeRoute(raw)
	_, after, _ := strings.Cut(strip(raw), ":")
	authority := strings.TrimLeft(after, `/\`)
	if end := strings.IndexAny(authority, `/\?#`); end >= 0 {
		authority = authority[:end]
	}
	if err == nil && strings.Contains(authority, "@") {
		return "", ErrCredentials
	}
	return u, err
}

// ResolveRoute is Resolve with the [Route] of the reference.
func (b *Base) ResolveRoute(ref string) (string, error) {
	u, err := b.Resolve(ref)
	return withRoute(u, ref, err)
}

func withRoute(u, raw string, err error) (string, error) {
	route := Route(raw)
	if err != nil || route == "" {
		return u, err
	}
	return bounded(u+route, raw, nil)
}

// CutRoute returns a canonical URL as it is requested: without its route.
func CutRoute(u string) string {
	before, _, _ := strings.Cut(u, "#")
	return before
}
