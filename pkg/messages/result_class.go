package messages

import (
	"maps"
	"slices"
)

// Class is the outcome of a request. It alone decides what the frontier does next.
type Class string

// How a request can end. docs/reference/wire.md has these comments.
const (
	OK              Class = "ok"               // 2xx with an accepted body
	NotModified     Class = "not_modified"     // 304 to a conditional request
	Redirect        Class = "redirect"         // 3xx with a usable Location
	ClientError     Class = "client_error"     // other 4xx, 3xx without a usable target, unexpected 304
	Gone            Class = "gone"             // 404 and 410
	Throttled       Class = "throttled"        // 429, and 503 with Retry-After
	ServerError     Class = "server_error"     // other 5xx, 408 and 425
	RobotsDenied    Class = "robots_denied"    // forbidden by robots.txt. With `ip`, `bytes_wire` or `first_byte_ms`, this turn fetched it, starting the delay
	RobotsFetched   Class = "robots_fetched"   // this turn fetched robots.txt; the page is still due
	RefusedAddress  Class = "refused_address"  // the host's address is forbidden
	DNSFailure      Class = "dns_failure"      // the name does not resolve
	ConnectFailure  Class = "connect_failure"  // no connection, or reset before a response
	TLSFailure      Class = "tls_failure"      // no trusted TLS session
	Timeout         Class = "timeout"          // no first byte, or not complete in time
	Stalled         Class = "stalled"          // the body stopped
	TooLarge        Class = "too_large"        // headers or body exceed a limit
	BadEncoding     Class = "bad_encoding"     // unusable Content-Encoding; values that are not codings, such as `UTF-8`, are ignored
	ProtocolError   Class = "protocol_error"   // not HTTP, or an incomplete body
	UnsupportedType Class = "unsupported_type" // a content type that is not accepted
	Blocked         Class = "blocked"          // a [challenge or CAPTCHA](../security.md#being-blocked), of any status
	ProxyFailure    Class = "proxy_failure"    // no working proxy; the host is not affected
	Misconfigured   Class = "misconfigured"    // a missing secret, parameter or proxy; nothing was sent
	ClassCancelled  Class = "cancelled"        // crawl or host was cancelled before the request
)

// Detail is a word that refines a Class, for programs that count; more may be added.
type Detail string

// Details, each with the classes that it belongs to. docs/reference/wire.md has these comments.
const (
	DetailTimeout     Detail = "timeout"     // `dns_failure`, `connect_failure`, `tls_failure`, `proxy_failure`
	DetailNoHost      Detail = "no_host"     // `dns_failure`: the name does not exist
	DetailRefused     Detail = "refused"     // `connect_failure`: connection refused
	DetailReset       Detail = "reset"       // `connect_failure`: reset, or closed without a response
	DetailCertificate Detail = "certificate" // `tls_failure`
	DetailNotTLS      Detail = "not_tls"     // `tls_failure`
	DetailFirstByte   Detail = "first_byte"  // `timeout`: connected, without a response
	DetailTotal       Detail = "total"       // `timeout`: not complete in time
	DetailHeader      Detail = "header"      // `too_large`
	DetailWire        Detail = "wire"        // `too_large`: the body as received
	DetailDecoded     Detail = "decoded"     // `too_large`: the decoded body
	DetailRatio       Detail = "ratio"       // `too_large`: decompression ratio over limit
	DetailCut         Detail = "cut"         // `protocol_error`: an incomplete body
	DetailRender      Detail = "render"      // `timeout`, `protocol_error`, `too_large`: in the browser
	DetailLogin       Detail = "login"       // `timeout`: the login failed; `client_error`: refused, or no session after it
)

// maxDetail bounds a Detail, in bytes.
const maxDetail = 32

// classes are the classes and their properties. The frontier's table of effects on hosts and URLs
// is internal/frontier/state/effects.go.
var classes = map[Class]struct {
	retried bool // a later attempt may have another outcome
	failure bool // counts as failed in summaries of a crawl's health
	unsent  bool // no request for the page was sent
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

// Retryable reports whether a later attempt may have another outcome.
func (c Class) Retryable() bool { return classes[c].retried }

// IsFailure reports whether a request with this class counts as failed in summaries of a crawl's
// health. Pages that do not exist, or that were not requested because of robots.txt or the rules of
// the crawl, are not failures; refusals such as 403 and 429 are.
func (c Class) IsFailure() bool { return classes[c].failure }

// IsPageRequest reports whether a request with this class was one for a page: it was sent, or
// should have been.
func (c Class) IsPageRequest() bool { return !classes[c].unsent }
