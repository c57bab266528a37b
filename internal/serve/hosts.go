package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"seine/internal/serve/problem"
)

// checkHost rejects requests for names other than the server's. A site whose name resolves to this
// machine (DNS rebinding) would have the server's origin in a browser, and the user's permissions.
// Addresses cannot be rebound.
func (o *Options) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.named(hostOf(r.Host)) {
			problem.Write(w, http.StatusMisdirectedRequest, "the Host header names a host that this server does not serve: use its address, "+
				"or start it with --host NAME for each further name")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkHosts rejects invalid names of the server, which would match no request.
func (o *Options) checkHosts() error {
	for _, name := range o.Hosts {
		if name == "" || strings.ContainsAny(name, "/:?#@* \t") {
			return fmt.Errorf("--host %q: must be a name alone, without scheme, port and path, such as crawls.example.org", name)
		}
	}
	return nil
}

// named reports whether a host, in lower case and without a port, is this server.
func (o *Options) named(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return host != "" && (host == hostOf(o.Listen) || slices.ContainsFunc(o.Hosts, func(h string) bool { return hostOf(h) == host }))
}

// hostOf returns the host of an address with an optional port, in lower case.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
