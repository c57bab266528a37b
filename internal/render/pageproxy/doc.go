// Package pageproxy is the only access of a browser's tab to the web: an HTTP proxy on loopback
// through which all requests of the tab pass.
//
// A browser uses it as the proxy server of a browser context ("http://" + [Proxy.Addr], bypass list
// "<-loopback>"), and trusts the key of an [Identity]. The proxy terminates TLS, so that it sees
// each request. Then it:
//
//   - answers a navigation to the page with the document that was fetched before;
//   - asks for permission to send each other request (robots.txt, pace, block list);
//   - sends it by a transport that has the address guard, and that resolves a name and connects
//     to the resolved address; the browser never resolves names;
//   - counts requests and bytes, ends the visit's traffic at its limits, and passes each
//     exchange to Record.
//
// It accepts HTTP proxy requests: with absolute URLs, and tunnels (CONNECT), which hold TLS
// (HTTP/1.1 or HTTP/2) or plain HTTP, as browsers send for "ws:" URLs. It forwards the requests
// unchanged, except for hop-by-hop fields and User-Agent, which is the visit's. It adds no Via,
// Forwarded or other field. Streams and WebSockets pass without buffering.
//
// It guarantees that outside of a visit (before [Proxy.Begin], after [Proxy.End]) nothing is sent
// to the web; that a connection serves at most one visit; that after End no request of the visit is
// in progress, and Record is not called any more; and that no client can keep a goroutine after
// [Proxy.Close].
//
// # Other clients
//
// The port is open to every process of the machine, because a browser cannot authenticate to it.
// During a visit such a process could send requests in the visit's name. Permission, address guard
// and limits apply to them as well, so it reaches nothing that the page could not reach. It could
// read the document of the page, use up the visit's limits and connections, and add exchanges to
// the record. It cannot see the browser's traffic. Machines whose users do not trust each other
// should give the crawler a separate network namespace.
//
// A spec that allows loopback addresses allows them to pages too: servers there, such as the
// debugging port of the browser, must then be safe from them. The port of a proxy is safe: it does
// not answer requests in the form that a browser sends to a server.
//
// # Limits
//
// A request whose path has a stray percent sign ("/100%") is answered with 400 by net/http, which
// cannot parse it; if it is for the page, [Totals] has Main 0. Other spellings pass unchanged.
package pageproxy
