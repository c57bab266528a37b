// Package caller identifies the sender of a request to the server, and its permissions. The
// middleware of package serve adds a Caller to the context of each request; handlers check it.
package caller

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is a permission.
type Scope string

// Scopes. None includes another: a token that reads and writes has both.
const (
	Read    Scope = "read"    // read the state of crawls, hosts and URLs
	Write   Scope = "write"   // create, seed, steer and delete crawls
	Scrape  Scope = "scrape"  // fetch single pages and lists of URLs
	Records Scope = "records" // read extracted records
	Secrets Scope = "secrets" // use specs with secrets, which the processes send to sites
	Audit   Scope = "audit"   // read the audit log
)

// All returns all scopes.
func All() []Scope { return []Scope{Read, Write, Scrape, Records, Secrets, Audit} }

// CheckScopes returns an error for an unknown scope.
func CheckScopes(scopes []Scope) error {
	for _, s := range scopes {
		if !slices.Contains(All(), s) {
			return fmt.Errorf("scope %q: must be one of %s", s, Text(All(), ", "))
		}
	}
	return nil
}

// Text joins scopes with a separator.
func Text(scopes []Scope, separator string) string {
	var all []string
	for _, s := range scopes {
		all = append(all, string(s))
	}
	return strings.Join(all, separator)
}

// Caller is the sender of a request.
type Caller struct {
	// Name is the name of a token or a client certificate, or Local.
	Name   string
	Scopes []Scope
}

// Local is the name of loopback clients of a server without tokens.
const Local = "local"

// May reports whether the caller has a scope.
func (c *Caller) May(s Scope) bool { return slices.Contains(c.Scopes, s) }

type key struct{}

// With returns a context with a caller.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns the caller of a request. Without one, it returns a caller without name and scopes.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}
