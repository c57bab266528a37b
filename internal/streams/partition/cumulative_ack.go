package partition

import (
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// cumulativeAcker tells the server what the owner of a partition has acknowledged, in one life of
// the stream. The server takes an acknowledgement by the sequence of the message in
// the consumer as well, which begins again when the reader rewinds: that of an earlier
// session would make it pass over later ones.
type cumulativeAcker struct {
	nc *nats.Conn

	mu      sync.Mutex
	telling bool                     // a session has begun whose consumer takes acknowledgements
	done    uint64                   // sequence up to which all is acknowledged
	sent    []jetstream.SequencePair // messages of this session that are not, in order
	subject string                   // of acknowledgements, but for the message's part
}

// startSession begins a session, which the messages after the sequence that it returns
// come in.
func (a *cumulativeAcker) startSession() (done uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.telling, a.sent = true, nil
	return a.done
}

// end is for a stream that is another now: its sequences are of other messages.
func (a *cumulativeAcker) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.telling, a.sent = false, nil
}

// delivered notes that a message came in this session, to be acknowledged at reply. It
// may have been handed out, and acknowledged, in an earlier one.
func (a *cumulativeAcker) delivered(at jetstream.SequencePair, reply string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.sent); a.telling && (n == 0 || at.Stream > a.sent[n-1].Stream) {
		if n == 0 {
			a.subject = ackSubject(reply)
		}
		a.sent = append(a.sent, at)
	}
	a.flush()
}

// acknowledge notes that all up to a message is done.
func (a *cumulativeAcker) acknowledge(seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = max(a.done, seq)
	a.flush()
}

// flush acknowledges the last message of this session that is done, and so those
// before it.
func (a *cumulativeAcker) flush() {
	n := 0
	for n < len(a.sent) && a.sent[n].Stream <= a.done {
		n++
	}
	if n == 0 {
		return
	}
	last := a.sent[n-1]
	a.sent = a.sent[n:]
	_ = a.nc.Publish(fmt.Sprintf("%s.1.%d.%d.0.0", a.subject, last.Stream, last.Consumer), []byte("+ACK"))
}

// ackSubject returns what the subjects have in common at which the messages of a
// consumer are acknowledged: $JS.ACK.<stream>.<consumer>, or with domain and account
// before the stream (ADR-15).
func ackSubject(reply string) string {
	tokens := strings.Split(reply, ".")
	n := 4
	if len(tokens) > 9 {
		n = 6
	}
	return strings.Join(tokens[:min(n, len(tokens))], ".")
}
