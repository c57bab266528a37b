package tracing

import (
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Attributes of spans. Those without seine are of OpenTelemetry's semantic
// conventions for HTTP and messaging.
const (
	Stage    = attribute.Key("seine.stage")
	Crawl    = attribute.Key("seine.crawl")
	VisitKey = attribute.Key("seine.visit")
	Attempt  = attribute.Key("seine.attempt")
	Class    = attribute.Key("seine.class")   // how a request ended
	Outcome  = attribute.Key("seine.outcome") // what became of a message
	Commit   = attribute.Key("seine.commit")  // that a record is in

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

// Kinds of Operation.
const (
	Send    = "send"
	Process = "process"
)

// NATS is the value of System.
func NATS() attribute.KeyValue { return System.String("nats") }

// URL returns url.full without what gives access: a user and a password, and
// parameters that sign a URL, as the semantic conventions ask.
func URL(text string) attribute.KeyValue { return URLFull.String(Masked(text)) }

// signatures are parameters that make a URL a credential. The first ones are those of the
// semantic conventions.
var signatures = []string{
	"AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token",
	"access_token", "api_key", "apikey", "token", "password",
}

// Masked is a URL for a person to read.
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

// Fail marks a span as one that went wrong: kind is one of few words.
func Fail(span trace.Span, kind, text string) {
	span.SetAttributes(Error.String(kind))
	span.SetStatus(codes.Error, text)
}
