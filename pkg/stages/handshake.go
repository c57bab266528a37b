package stages

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// lostHandshake is the reason why a lost connection cannot be re-established, nil if no certificate
// is the cause.
type lostHandshake struct{ why atomic.Pointer[string] }

// err returns the reason as an error.
func (h *lostHandshake) err() error {
	if why := h.why.Load(); why != nil {
		return fmt.Errorf("not connected: %s", *why)
	}
	return errors.New("not connected")
}

// checkHandshake logs which certificate prevents reconnection, and stores it for Ready. The client
// reconnects by itself, but reports no error when a certificate is refused: it keeps the error
// until the next attempt.
func (rs Refusals) checkHandshake() {
	if rs.NC.IsConnected() {
		rs.handshake.why.Store(nil)
		rs.retrySubscriptions(time.Now())
		return
	}
	err := rs.NC.LastError()
	if err == nil || errors.Is(err, nats.ErrConnectionClosed) {
		return // the client is reconnecting
	}
	hint := hintCertificate(err)
	if hint == "" {
		return
	}
	why := fmt.Sprintf("%v (%s)", err, hint)
	if said := rs.handshake.why.Swap(&why); said == nil || *said != why {
		rs.Log.Error("cannot reconnect to NATS", "reason", why)
	}
}

// hintCertificate returns advice for a refused certificate, "" if err has another cause.
func hintCertificate(err error) string {
	said := err.Error()
	has := func(part string) bool { return strings.Contains(said, part) }
	switch {
	case has("certificate signed by unknown authority"):
		return "--nats-ca names the authority that the server's certificate is signed by"
	case has("certificate has expired or is not yet valid"):
		return "renew the server's certificate and reload it, or set the clock right"
	case has("tls: expired certificate"), has("tls: unknown certificate authority"):
		return "the server does not take the certificate of this client: it has ended, or is of another authority; --nats-cert and --nats-key name a newer one"
	case has("certificate required"), has("bad certificate"), has("after TLS handshake"):
		return "the server wants a certificate of its clients: --nats-cert and --nats-key"
	}
	return ""
}
