// Package httpclient sends requests to sites and reads their responses.
//
// A Client has a Config, set by an operator, and compiles the spec of a crawl into a Policy. For
// each Request it returns a Reply: the class of the result, a text for users, and the response. It
// depends neither on NATS nor on the other stages. The caller decides when a request may be sent,
// and knows about requests of other processes. Bodies that are too large for memory go to
// LargeBodies.
//
// # Guarantees
//
// Whatever a server does, Client.Do returns within the Timeout of the request and the waits before
// it is sent, with a class that decides what happens next. A request depends only on its URL and
// the policy: the client does not follow redirects, and credentials do not either. It dials only
// addresses that the policy allows, even through a proxy. A Reply contains no secret of the spec,
// as far as its value can be recognized. Two requests to a host start at least their Spacing apart,
// even if a broken connection causes a second attempt. All bodies together use at most
// Config.MaxInFlightBody, from when they are read until their replies are released.
//
// # The files
//
// They are listed in the order of a request. The request: exchange_input, policy and compile_policy
// (a compiled spec), render_rule and secrets, build_request (the request of net/http, with a list
// of all header fields). The time: rate_limit. The connection: transport_pool, dial, resolve,
// proxy, tunnel, conn. The exchange: client, exchange, deadline. The response: response_head,
// status and failure, accepts, body, large_body, large_body_writer, memory; challenge; redact;
// wire_capture, archive and archived_response_body for archives. README.md describes each part.
package httpclient
