// Package serve is the HTTP server of `seine serve`: what stands between a client and the handlers of
// pages and API, each in a separate file.
//
// It consumes requests, and hands on those that may be handled, with their [caller.Caller] in the context.
// Every other one is answered with a problem document (RFC 9457) that says what to do. In the order in which
// a request meets them:
//
//   - response_headers.go: what a browser may do with any answer (Content-Security-Policy)
//   - hosts.go: the Host header must be a name of this server (DNS rebinding)
//   - cross_origin.go: no other site makes a browser write here
//   - authenticate.go, login.go: the caller, by token, client certificate, or loopback
//   - rate_limit.go: requests of each caller, a second and at a time
//   - audited.go: the log of writes, with caller and outcome
//   - read_only.go: nothing that changes anything, if the owner says so
//   - body_limits.go: how large a body may be, and how slowly it may come
//
// /mcp is for clients of the Model Context Protocol: what they call passes the last four within the process.
//
// What a caller may do is asked where it is done: each operation of the API has its scope.
package serve
