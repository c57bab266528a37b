// Package caller says who sends a request to the server, and what that one may do. The middleware of
// package serve puts a Caller into the context of each request; handlers ask it.
package caller

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is a right.
type Scope string

// Scopes. None has another in it: a token that writes and is to look as well has both.
const (
	Read    Scope = "read"    // how crawls, hosts and URLs stand
	Write   Scope = "write"   // begin, feed, steer and delete crawls
	Scrape  Scope = "scrape"  // have single pages and lists of URLs fetched
	Records Scope = "records" // read what crawls have extracted
	Secrets Scope = "secrets" // use specs that name secrets, which the processes send to sites
	Audit   Scope = "audit"   // read who changed what
)

// All are the scopes there are.
func All() []Scope { return []Scope{Read, Write, Scrape, Records, Secrets, Audit} }

// CheckScopes reports scopes that there are not.
func CheckScopes(scopes []Scope) error {
	for _, s := range scopes {
		if !slices.Contains(All(), s) {
			return fmt.Errorf("scope %q: must be one of %s", s, Text(All(), ", "))
		}
	}
	return nil
}

// Text lists scopes.
func Text(scopes []Scope, separator string) string {
	var all []string
	for _, s := range scopes {
		all = append(all, string(s))
	}
	return strings.Join(all, separator)
}

// Caller is who sends a request.
type Caller struct {
	// Name is that of a token or of a client certificate, or Local.
	Name   string
	Scopes []Scope
}

// Local is the name of clients over loopback of a server without tokens.
const Local = "local"

// May reports whether the caller has a right.
func (c *Caller) May(s Scope) bool { return slices.Contains(c.Scopes, s) }

type key struct{}

// With returns a context that has the caller.
func With(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns the caller of a request, one without a name and rights if there is none.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(key{}).(Caller)
	return c
}
