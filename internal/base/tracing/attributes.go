package tracing

import (
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Attributes of spans. Those without the prefix seine are from OpenTelemetry's semantic conventions
// for HTTP and messaging.
const (
	Stage    = attribute.Key("seine.stage")
	Crawl    = attribute.Key("seine.crawl")
	VisitKey = attribute.Key("seine.visit")
	Attempt  = attribute.Key("seine.attempt")
	Class    = attribute.Key("seine.class")   // result of a request
	Outcome  = attribute.Key("seine.outcome") // result of a message
	Commit   = attribute.Key("seine.commit")  // commit of a record

	URLFull = attribute.Key("url.full")
	Error   = attribute.Key("error.type")

	Method          = attribute.Key("http.request.method")
	StatusCode      = attribute.Key("http.response.status_code")
	BodySize        = attribute.Key("http.response.body.size")
	ServerAddress   = attribute.Key("server.address")
	PeerAddress     = attribute.Key("network.peer.address")
	ProtocolVersion = attribute.Key("network.protocol.version")

	System      = attribute.Key("messaging.system")
	Destination = attribute.Key("messaging.destination.name")
	Operation   = attribute.Key("messaging.operation.type")
	MessageID   = attribute.Key("messaging.message.id")
	MessageSize = attribute.Key("messaging.message.body.size")
	BatchCount  = attribute.Key("messaging.batch.message_count")
	Sequence    = attribute.Key("seine.sequence") // in the stream
	Deliveries  = attribute.Key("seine.deliveries")
)

// Values of Operation.
const (
	Send    = "send"
	Process = "process"
)

// NATS is the value of System.
func NATS() attribute.KeyValue { return System.String("nats") }

// URL returns url.full without credentials: a user and a password, and parameters that sign a URL,
// as the semantic conventions require.
func URL(text string) attribute.KeyValue { return URLFull.String(Masked(text)) }

// signatures are parameters that make a URL a credential. The first ones are from the semantic
// conventions.
var signatures = []string{
	"AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token",
	"access_token", "api_key", "apikey", "token", "password",
}

// Masked returns a URL without credentials.
func Masked(text string) string {
	query := strings.IndexByte(text, '?')
	if query < 0 && !strings.Contains(text, "@") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "REDACTED"
	}
	if u.User != nil {
		u.User = url.UserPassword("REDACTED", "REDACTED")
	}
	parts := strings.Split(u.RawQuery, "&")
	for i, part := range parts {
		name, _, given := strings.Cut(part, "=")
		if given && isSignature(name) {
			parts[i] = name + "=REDACTED"
		}
	}
	u.RawQuery = strings.Join(parts, "&")
	return u.String()
}

func isSignature(name string) bool {
	for _, s := range signatures {
		if strings.EqualFold(name, s) {
			return true
		}
	}
	return false
}

// Fail marks a span as failed. kind is one of a few words.
func Fail(span trace.Span, kind, text string) {
	span.SetAttributes(Error.String(kind))
	span.SetStatus(codes.Error, text)
}
