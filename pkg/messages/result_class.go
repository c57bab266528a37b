package messages

import (
	"maps"
	"slices"
)

// Class says how a request ended. The class alone decides what the frontier
// does next; docs/reference/wire.md lists the classes with their meaning.
type Class string

// How a request can end.
const (
	OK              Class = "ok"               // 2xx with a body that was kept
	NotModified     Class = "not_modified"     // 304 to a conditional request
	Redirect        Class = "redirect"         // 3xx with a usable Location
	ClientError     Class = "client_error"     // 4xx other than the ones below, and 3xx that lead nowhere
	Gone            Class = "gone"             // 404 and 410
	Throttled       Class = "throttled"        // 429, and 503 with Retry-After
	ServerError     Class = "server_error"     // other 5xx, 408 and 425
	RobotsDenied    Class = "robots_denied"    // robots.txt does not allow it
	RobotsFetched   Class = "robots_fetched"   // the request of this turn went to robots.txt; the page is still due
	RefusedAddress  Class = "refused_address"  // the address guard refused to dial
	DNSFailure      Class = "dns_failure"      // the name does not resolve
	ConnectFailure  Class = "connect_failure"  // no connection, or it was reset before a response
	TLSFailure      Class = "tls_failure"      // no trusted TLS session
	Timeout         Class = "timeout"          // no first byte, or not done in time
	Stalled         Class = "stalled"          // the body stopped coming
	TooLarge        Class = "too_large"        // headers or body over the cap
	BadEncoding     Class = "bad_encoding"     // Content-Encoding that cannot be undone
	ProtocolError   Class = "protocol_error"   // not HTTP, or a body cut short
	UnsupportedType Class = "unsupported_type" // a content type that is not kept
	Blocked         Class = "blocked"          // a page that finds out whether a person asks, in the place of the page
	ProxyFailure    Class = "proxy_failure"    // no way through the proxy; the host was not reached
	Misconfigured   Class = "misconfigured"    // the spec asks for what this fetcher or URL does not have: nothing was sent
	ClassCancelled  Class = "cancelled"        // the crawl, or the host, was cancelled before it was sent
)

// Detail is a word that goes with a Class, for programs that count; more may be
// added.
type Detail string

// Details.
const (
	DetailTimeout     Detail = "timeout"     // dns_failure, connect_failure, tls_failure, proxy_failure
	DetailNoHost      Detail = "no_host"     // dns_failure: there is no such name
	DetailRefused     Detail = "refused"     // connect_failure: nobody listens
	DetailReset       Detail = "reset"       // connect_failure: reset, or closed without a response
	DetailCertificate Detail = "certificate" // tls_failure
	DetailNotTLS      Detail = "not_tls"     // tls_failure
	DetailFirstByte   Detail = "first_byte"  // timeout: connected, and no response
	DetailTotal       Detail = "total"       // timeout: not done in time
	DetailHeader      Detail = "header"      // too_large
	DetailWire        Detail = "wire"        // too_large: the body as it came
	DetailDecoded     Detail = "decoded"     // too_large: the body decoded
	DetailRatio       Detail = "ratio"       // too_large: decompresses to too many times its size
	DetailCut         Detail = "cut"         // protocol_error: the body was cut short
	DetailRender      Detail = "render"      // timeout, protocol_error, too_large: in the browser, after the response
	DetailLogin       Detail = "login"       // timeout: the login of render fails; client_error: there is no session after it
)

// maxDetail bounds a Detail, in bytes.
const maxDetail = 32

// classes has what a class says, whoever reads it. What a host and a URL get of it is in the frontier
// (pkg/stages/frontier/state/effects.go).
var classes = map[Class]struct {
	retried bool // a later attempt may end differently
	failure bool // it counts as failed where people ask whether a crawl goes well
	unsent  bool // no request for the page went out
}{
	OK:              {},
	NotModified:     {},
	Redirect:        {},
	ClientError:     {failure: true},
	Gone:            {},
	Throttled:       {retried: true, failure: true},
	ServerError:     {retried: true, failure: true},
	RobotsDenied:    {unsent: true},
	RobotsFetched:   {retried: true, unsent: true},
	RefusedAddress:  {unsent: true},
	DNSFailure:      {retried: true, failure: true},
	ConnectFailure:  {retried: true, failure: true},
	TLSFailure:      {retried: true, failure: true},
	Timeout:         {retried: true, failure: true},
	Stalled:         {retried: true, failure: true},
	TooLarge:        {},
	BadEncoding:     {failure: true},
	ProtocolError:   {retried: true, failure: true},
	UnsupportedType: {},
	Blocked:         {retried: true, failure: true},
	ProxyFailure:    {retried: true, failure: true},
	Misconfigured:   {failure: true},
	ClassCancelled:  {retried: true, unsent: true},
}

// Classes returns all classes, sorted.
func Classes() []Class { return slices.Sorted(maps.Keys(classes)) }

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { _, ok := classes[c]; return ok }

// Retryable reports whether a later attempt may end differently.
func (c Class) Retryable() bool { return classes[c].retried }

// IsFailure reports whether a request that ended so counts as failed where people
// ask whether a crawl goes well. Pages that are not there, or that were never
// asked for because of robots.txt or the rules of the crawl, are no trouble;
// refusals such as 403 and 429 are.
func (c Class) IsFailure() bool { return classes[c].failure }

// IsPageRequest reports whether a request that ended so was one for a page: it went out,
// or should have.
func (c Class) IsPageRequest() bool { return !classes[c].unsent }
