// Package httpclient is how a site is asked: what is sent to it, exactly, by which way, and
// what is taken of its answer.
//
// A Client is given a Config, which an operator chooses; the spec of a crawl, of which it
// makes a Policy; and Requests. For each it returns a Reply: the class of the result, with
// words for a person, and what came. It knows neither NATS nor the other stages nor whose turn
// a request is: who may ask, and when the host was asked last by another process, is the
// caller's affair. A body that is too large to be held goes to the LargeBodies that it is given.
//
// # Guarantees
//
// Whatever a server does, Client.Do returns, within the Timeout of the request and the
// waits before it is sent, with a class that says what to do next. What is sent depends on
// the URL of that request alone, and on the policy: credentials follow no redirect, and
// redirects are not followed. No address is dialled that the policy does not allow, also by
// a proxy. No secret of the spec is in a Reply, as far as its value can be told. Two requests
// to a host start at least their Spacing apart, also where a broken connection has one sent
// again. Bodies take at most Config.MaxInFlightBody together, from when they are read until
// their replies are released.
//
// # The files
//
// They follow a request. What is sent: exchange_input, policy and compile_policy (a spec, ready for use),
// render_rule and secrets, build_request (the request of net/http, with a list of all header
// fields). When: rate_limit. The way:
// transport_pool, dial, resolve, proxy, tunnel, conn. The exchange: client, exchange,
// deadline. What comes: response_head, status and failure, accepts, body, large_body, large_body_writer, memory;
// challenge; redact; wire_capture, archive and archived_response_body for archives. README.md has more
// of each.
package httpclient
