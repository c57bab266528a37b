// Package cookies keeps cookies as RFC 6265, section 5, asks of user agents: which
// Set-Cookie fields are taken and how they are read, which cookies a request is
// sent with and in which order, and which are evicted where there are too many.
// What browsers have made stricter since is so here (draft-ietf-httpbis-rfc6265bis):
// the prefixes __Secure- and __Host-, secure cookies over https alone, limits of
// length, no control characters. Expires may have any form that package dates reads.
//
// Values go back byte for byte as received: a site reads its own cookies, and no
// other party has a say in what they look like.
package cookies
