// Package cookies keeps cookies as RFC 6265, section 5, requires of user agents: which Set-Cookie
// fields are accepted and how they are parsed, which cookies a request has and in which order, and
// which are evicted if there are too many. It includes later restrictions of browsers
// (draft-ietf-httpbis-rfc6265bis): the prefixes __Secure- and __Host-, secure cookies only over
// https, limits of length, no control characters. Expires may have any form that package dates
// parses.
//
// Values are sent back byte for byte: only the site interprets its cookies.
package cookies
