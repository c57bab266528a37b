package partition

import (
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// cumulativeAcker acknowledges the messages that the owner of a partition has processed, in one
// life of the stream. The server identifies an acknowledged message also by its sequence in the
// consumer, which starts again when the reader rewinds: an acknowledgement from an earlier session
// would make it skip later messages.
type cumulativeAcker struct {
	nc *nats.Conn

	mu      sync.Mutex
	telling bool                     // a session has begun whose consumer takes acknowledgements
	done    uint64                   // all messages up to this sequence are done
	sent    []jetstream.SequencePair // unacknowledged messages of this session, in order
	subject string                   // prefix of the acknowledgement subjects
}

// startSession starts a session. Its messages are those after the returned sequence.
func (a *cumulativeAcker) startSession() (done uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.telling, a.sent = true, nil
	return a.done
}

// end ends the session, as the stream was replaced: its sequences belong to other messages.
func (a *cumulativeAcker) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.telling, a.sent = false, nil
}

// delivered notes that a message arrived in this session, with its reply subject. It may have been
// handed out, and acknowledged, in an earlier session.
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

// acknowledge notes that all messages up to a sequence are done.
func (a *cumulativeAcker) acknowledge(seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = max(a.done, seq)
	a.flush()
}

// flush acknowledges the last message of this session that is done, and thereby all before it.
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

// ackSubject returns the common prefix of a consumer's acknowledgement subjects:
// $JS.ACK.<stream>.<consumer>, or with domain and account before the stream (ADR-15).
func ackSubject(reply string) string {
	tokens := strings.Split(reply, ".")
	n := 4
	if len(tokens) > 9 {
		n = 6
	}
	return strings.Join(tokens[:min(n, len(tokens))], ".")
}
