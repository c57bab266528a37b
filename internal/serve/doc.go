// Package serve is the HTTP server of `seine serve`: the middleware in front of the pages and the
// API, one part in each file.
//
// It passes permitted requests on, with their [caller.Caller] in the context, and answers all
// others with a problem document (RFC 9457) that says what to do. In the order of processing:
//
//   - response_headers.go: restrictions for browsers (Content-Security-Policy)
//   - hosts.go: the Host header must be a name of this server (DNS rebinding)
//   - cross_origin.go: no other site makes a browser write here
//   - authenticate.go, login.go: the caller, by token, client certificate, or loopback
//   - rate_limit.go: requests of each caller, per second and concurrent
//   - audited.go: the log of writes, with caller and result
//   - read_only.go: rejects all changes, if configured
//   - body_limits.go: the size of a body, and the time to receive it
//
// /mcp serves clients of the Model Context Protocol; their calls pass the last four within the
// process.
//
// Each operation of the API checks the scope of its caller itself.
package serve
