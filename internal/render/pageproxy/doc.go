// Package pageproxy is the way of a browser's tab to the web: an HTTP proxy on
// loopback through which everything that the tab asks for must pass.
//
// A browser uses it by the proxy server of a browser context
// ("http://" + [Proxy.Addr], bypass list "<-loopback>"), and trusts the key of
// an [Identity]. The proxy terminates TLS, so that it sees each request, and
// then it:
//
//   - answers a navigation to the page with the document that was fetched before;
//   - asks for permission to send each other request (robots.txt, pace, block list);
//   - sends it by a transport that has the address guard, and that resolves a
//     name and connects to what it resolved; the browser never resolves any;
//   - counts requests and bytes, ends the visit's traffic at its limits, and gives
//     each exchange to Record.
//
// It consumes requests by HTTP proxy: with absolute URLs, and tunnels (CONNECT),
// which hold TLS (HTTP/1.1 or HTTP/2) or plain HTTP, as the browser does for
// "ws:" URLs. It emits the requests as they were, save for hop-by-hop fields: no
// Via, Forwarded or other field is added, and User-Agent is that of the visit. Streams and WebSockets pass
// as they come.
//
// It guarantees that outside of a visit (before [Proxy.Begin], after [Proxy.End])
// nothing is sent to the web; that a connection serves one visit at most; that
// after End no request of the visit is in progress, and Record is not called any
// more; and that no client can keep a goroutine after [Proxy.Close].
//
// # Who else may connect
//
// The port is open to every process of the machine, because a browser cannot
// prove who it is. During a visit such a process could send requests in
// the visit's name. Permission, address guard and limits hold for them as well, so
// that it reaches nothing that the page could not reach. It could read the
// document of the page, use up the visit's limits and connections, and add exchanges
// to the record. It cannot see what the browser sends. Machines whose users do not
// trust each other should give the crawler a separate network namespace.
//
// A spec that allows loopback addresses allows them to pages too: what listens
// there, such as the debugging port of the browser, must then be safe from them. The port of a
// proxy is: it does not answer what a browser sends to a server.
//
// # Limits of what passes
//
// A request whose path has a stray percent sign ("/100%") is answered with 400 by
// net/http, which cannot parse it; if it is that of the page, [Totals] has Main 0.
// Other spellings pass as they are.
package pageproxy
