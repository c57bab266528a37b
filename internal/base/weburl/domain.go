package weburl

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Domain returns the registrable domain of a lower-case host name, which is the
// public suffix and one label: "example.co.uk" for "www.example.co.uk". A name
// without one is returned unchanged: a public suffix itself, an IP address, a
// single label such as "localhost".
//
// The list, private section included, is the one built into the x/net version
// in use: after an update some domains may differ.
func Domain(hostname string) string {
	if !mayHaveDomain(hostname) {
		return hostname
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(hostname)
	if err != nil {
		return hostname
	}
	return domain
}

// mayHaveDomain spares the search where the answer is the host name anyway: one
// label or two, IPv6 by its colon, IPv4 by its all-digit last label.
func mayHaveDomain(hostname string) bool {
	last := strings.LastIndexByte(hostname, '.')
	if last < 0 || strings.IndexByte(hostname, '.') == last || strings.IndexByte(hostname, ':') >= 0 {
		return false
	}
	return strings.Trim(hostname[last+1:], "0123456789") != ""
}
