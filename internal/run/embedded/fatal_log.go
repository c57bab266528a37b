package embedded

import (
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// fatalLogScanner searches the server's log for errors that disable a stream for good. The server
// reports them nowhere else, and later publishes get no reply.
type fatalLogScanner struct {
	mu    sync.Mutex
	err   error
	fatal string // why the server failed to start
}

// fatalWords occur in the server's messages about failed writes (2.15.2).
var fatalWords = []string{"write error", "failed to store", "no space left", "JetStream resource limits exceeded"}

func (l *fatalLogScanner) scan(format string, a []any) {
	line := fmt.Sprintf(format, a...)
	for _, w := range fatalWords {
		if strings.Contains(line, w) {
			l.mu.Lock()
			if l.err == nil {
				l.err = fmt.Errorf("the embedded NATS server cannot store: %s", line)
			}
			l.mu.Unlock()
			return
		}
	}
}

func (l *fatalLogScanner) setFatal(format string, a []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = fmt.Sprintf(format, a...)
	}
}

// atStart returns why a server is not ready after Start has returned. It never waits, because on a
// busy machine a timeout can expire before the first check.
func (l *fatalLogScanner) atStart(s *server.Server, o *Options) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case strings.Contains(l.fatal, "listening on port"): // wording of nats-server 2.15.2
		return fmt.Errorf("the embedded NATS server did not start on %s:%d: is the port free (%s)", o.Host, o.Port, l.fatal)
	case l.fatal != "", !s.JetStreamEnabled():
		return fmt.Errorf("the embedded NATS server cannot store its streams in %s: is the disk full or read-only (%s)", o.Dir, l.fatal)
	}
	return nil
}

func (l *fatalLogScanner) Warnf(format string, a ...any)  { l.scan(format, a) }
func (l *fatalLogScanner) Errorf(format string, a ...any) { l.scan(format, a) }
func (l *fatalLogScanner) Fatalf(format string, a ...any) { l.scan(format, a); l.setFatal(format, a) }
func (l *fatalLogScanner) Noticef(string, ...any)         {}
func (l *fatalLogScanner) Debugf(string, ...any)          {}
func (l *fatalLogScanner) Tracef(string, ...any)          {}

// Err returns the logged error that keeps the server from storing messages, nil if there is none.
func (s *Server) Err() error {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.err
}
