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

// checkHost refuses requests for another name than the server's: a site whose name comes to lead to this
// machine (DNS rebinding) is the same origin to a browser, and would be let in as its user. An address is no
// name that anybody can rebind.
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

// checkHosts reports a name of the server that is none, and so would let nobody in.
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

// hostOf is the host of an address that may have a port, in lower case.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
