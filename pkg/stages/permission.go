package stages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"seine/internal/base/lazyregexp"
)

// Refusals records the permissions that the server denies this process.
type Refusals struct{ *Bus }

// PermissionError reports a permission that the server denies this user. JetStream never receives a
// refused request, so the caller would otherwise see only a timeout.
type PermissionError struct {
	Verb    string
	Subject string // "" for a connection
	Who     string // the user
	Cause   error

	at time.Time // last refusal
}

// Error names the subject, the user and the remedy.
func (e *PermissionError) Error() string {
	if e.Subject == "" {
		return fmt.Sprintf("the NATS server does not let %s connect (%v): the server's configuration lacks its user or key; docs/guides/secure.md",
			e.Who, e.Cause)
	}
	if e.Verb == verbSubscribe && strings.HasPrefix(e.Subject, inboxes) {
		return fmt.Sprintf("the NATS server does not let %s receive replies at %s: set --nats-inbox-prefix to that of the user, such as _INBOX_fetcher",
			e.Who, e.Subject)
	}
	return fmt.Sprintf("the NATS server does not let %s %s %s: connect as the user of this role, or allow it in the server's configuration; docs/guides/secure.md",
		e.Who, e.Verb, e.Subject)
}

// Unwrap returns the server's error.
func (e *PermissionError) Unwrap() error { return e.Cause }

// Operations that may be refused.
const (
	verbPublish   = "publish to"
	verbSubscribe = "subscribe to"
	verbConnect   = "connect"
)

// inboxes is the prefix of inbox names: _INBOX.… by default, _INBOX_<user>.… where users have their
// own.
const inboxes = "_INBOX"

// answers is the prefix of the reply subjects that a server creates for clients of another account.
const answers = "_R_."

// Time limits for refusals.
const (
	// refusalAge is how long a refused publish counts: operations that still need it retry more
	// often.
	refusalAge = 30 * time.Second
	// refusalPause is the least time between two log lines about one subject.
	refusalPause = time.Minute
	// maxRefusals bounds the recorded subjects, maxSaid the subjects logged in a refusalPause: if
	// one of many partitions is refused, so are the others.
	maxRefusals = 16
	maxSaid     = 4
)

// permissionErrors are the current refusals.
type permissionErrors struct {
	mu      sync.Mutex
	now     []*PermissionError
	said    map[string]time.Time
	waiting map[chan *PermissionError]bool
	any     chan struct{} // closed at the first refusal
	closed  bool
}

// some returns a channel that is closed when something is refused on this connection.
func (e *permissionErrors) some() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.any == nil {
		e.any = make(chan struct{})
	}
	return e.any
}

// publishing returns the refusal of a publish to subject since a time, nil if there is none.
func (e *permissionErrors) publishing(subject string, since time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.now {
		if r.Verb == verbPublish && r.Subject == subject && !r.at.Before(since) {
			return r
		}
	}
	return nil
}

// refused records an asynchronous error of the server, and reports whether it is a refusal.
func (rs Refusals) refused(nc *nats.Conn, err error) bool {
	r := &PermissionError{Who: who(nc), Cause: err, at: time.Now()}
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		r.Verb, r.Subject = refusedSubject(err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		r.Verb = verbConnect
	default:
		return false
	}
	if r.Verb == verbPublish && (strings.HasPrefix(r.Subject, inboxes) || strings.HasPrefix(r.Subject, answers)) {
		// A late answer, or one after a change of permissions. No caller waits for it.
		rs.Log.Warn("NATS error", "error", err)
		return true
	}
	if rs.refusals.add(r) {
		rs.Log.Error("permission denied", "error", r)
	}
	return true
}

// violation matches the operation and the subject in the server's error text.
var violation = lazyregexp.New(`(Publish|Subscription)[^"]*"([^"]+)"`)

func refusedSubject(err error) (verb, subject string) {
	m := violation().FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return "do", err.Error()
	case m[1] == "Publish":
		return verbPublish, m[2]
	}
	return verbSubscribe, m[2]
}

// who describes the user of a connection in the terms of the server's configuration.
func who(nc *nats.Conn) string {
	user, key := "", "no key"
	switch o := nc.Opts; {
	case o.Nkey != "":
		key = "NKEY " + o.Nkey
	case o.UserJWT != nil:
		key = "a JWT"
		if token, err := o.UserJWT(); err == nil {
			if claims, err := jwt.DecodeUserClaims(token); err == nil {
				user, key = claims.Name, "JWT of "+claims.Subject
			}
		}
	case o.User != "":
		user, key = o.User, "a password"
	case o.Token != "":
		key = "a token"
	}
	if name, ok := strings.CutPrefix(nc.Opts.InboxPrefix, inboxes+"_"); ok && user == "" {
		user = name // natsusers names inboxes by their user
	}
	if user == "" {
		return "the client with " + key
	}
	return "user " + user + " (" + key + ")"
}

// add records a refusal and reports whether it should be logged.
func (e *permissionErrors) add(r *PermissionError) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := r.Verb + " " + r.Subject
	e.now = slices.DeleteFunc(e.now, func(o *PermissionError) bool { return o.expired(r.at) })
	same := slices.IndexFunc(e.now, func(o *PermissionError) bool { return o.Verb+" "+o.Subject == key })
	switch {
	case same >= 0:
		e.now[same] = r
	case len(e.now) < maxRefusals:
		e.now = append(e.now, r)
	}
	if e.any == nil {
		e.any = make(chan struct{})
	}
	if !e.closed {
		close(e.any)
		e.closed = true
	}
	for c := range e.waiting {
		select {
		case c <- r:
		default:
		}
	}
	maps.DeleteFunc(e.said, func(_ string, said time.Time) bool { return r.at.Sub(said) >= refusalPause })
	if _, known := e.said[key]; known || len(e.said) >= maxSaid {
		return false
	}
	if e.said == nil {
		e.said = make(map[string]time.Time)
	}
	e.said[key] = r.at
	return true
}

// expired reports whether the last refusal is so old that the operation may be allowed now. A
// subscription is tried once for each connection.
func (e *PermissionError) expired(now time.Time) bool {
	return e.Verb != verbSubscribe && now.Sub(e.at) > refusalAge
}

// subscribing reports whether a subscription was refused at least a refusalPause ago.
func (e *permissionErrors) subscribing(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.now, func(r *PermissionError) bool { return r.Verb == verbSubscribe && now.Sub(r.at) >= refusalPause })
}

// retrySubscriptions reconnects if a subscription was refused. A server whose new configuration
// allows the subscription does not report that; otherwise only a restart of the process would
// subscribe again.
func (rs Refusals) retrySubscriptions(now time.Time) {
	if rs.refusals.subscribing(now) {
		_ = rs.NC.ForceReconnect() // fails only if the connection was closed
	}
}

// forget clears all refusals after a reconnect, since every operation is retried on the new
// connection.
func (e *permissionErrors) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		e.any, e.closed = nil, false
	}
	e.now, e.said = nil, nil
}

// Err returns the first current refusal, or nil.
func (rs Refusals) Err() error {
	rs.refusals.mu.Lock()
	defer rs.refusals.mu.Unlock()
	now := time.Now()
	for _, r := range rs.refusals.now { // the first is the most useful: others may follow from it
		if !r.expired(now) {
			return r
		}
	}
	return nil
}

// Ready returns the trouble with the connection or with the objects that the process uses; nil if
// none.
func (b *Bus) Ready() error {
	if err := b.Refusals.Err(); err != nil {
		return err
	}
	if !b.NC.IsConnected() {
		return b.handshake.err()
	}
	return b.Troubles.Err()
}

// CancelOnDenied returns a context that ends with ctx, or with a PermissionError as its cause as
// soon as the server refuses an operation.
func (rs Refusals) CancelOnDenied(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan *PermissionError, 1)
	rs.refusals.mu.Lock()
	if rs.refusals.waiting == nil {
		rs.refusals.waiting = make(map[chan *PermissionError]bool)
	}
	rs.refusals.waiting[c] = true
	rs.refusals.mu.Unlock()
	go func() {
		select {
		case r := <-c:
			cancel(r)
		case <-ctx.Done():
		}
		rs.refusals.mu.Lock()
		defer rs.refusals.mu.Unlock()
		delete(rs.refusals.waiting, c)
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// WithErr returns err, or the refusal that caused it: the caller of a refused request sees only a
// timeout.
func (rs Refusals) WithErr(err error) error {
	if err == nil || errors.As(err, new(*PermissionError)) {
		return err
	}
	silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrPermissionViolation)
	if refused := rs.Err(); refused != nil && silent {
		return refused
	}
	return err
}

var _ slog.LogValuer = (*PermissionError)(nil)

// LogValue is the text of the error.
func (e *PermissionError) LogValue() slog.Value { return slog.StringValue(e.Error()) }
