package embedded

import (
	"fmt"
	"strings"
	"sync"
)

// troubleLog listens to the server's log for what stops a stream for good. The
// server tells nobody else: a publish then gets no answer.
type troubleLog struct {
	mu  sync.Mutex
	err error
}

// fatalWords are in the server's words for a write that failed (2.15.2).
var fatalWords = []string{"write error", "failed to store", "no space left", "JetStream resource limits exceeded"}

func (l *troubleLog) hear(format string, a []any) {
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

func (l *troubleLog) Warnf(format string, a ...any)  { l.hear(format, a) }
func (l *troubleLog) Errorf(format string, a ...any) { l.hear(format, a) }
func (l *troubleLog) Fatalf(format string, a ...any) { l.hear(format, a) }
func (l *troubleLog) Noticef(string, ...any)         {}
func (l *troubleLog) Debugf(string, ...any)          {}
func (l *troubleLog) Tracef(string, ...any)          {}

// Err returns what the server has said that keeps it from storing, nil if
// nothing does.
func (s *Server) Err() error {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.err
}
