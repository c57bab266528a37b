package process

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A message that is logged very often is logged a few times and then only counted. Other messages,
// and debug logs, lose nothing.
func TestLinesOfOneMessageAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		log := Logging{LogLevel: "debug", LogFormat: "json"}.Logger(&out).With("stage", "test")
		for range 1000 {
			log.Warn("trouble", "host", "a.example")
			log.Debug("handled")
		}
		log.Warn("other trouble")
		lines := out.messages(t)
		if lines["trouble"] != sparseBurst || lines["other trouble"] != 1 || lines["handled"] != 1000 {
			t.Errorf("lines by message: %v", lines)
		}
		time.Sleep(sparseEvery + time.Second)
		if last := out.last(t); last["msg"] != "trouble" || last["level"] != "WARN" || last["left_out"] != float64(1000-sparseBurst) {
			t.Errorf("of what was left out it says %v", last)
		}
		log.Warn("trouble")
		if lines := out.messages(t); lines["trouble"] != sparseBurst+2 {
			t.Errorf("later trouble is not told: %v", lines)
		}
	})
}

// lockedBuffer is a log that a test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range strings.Lines(l.b.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func (l *lockedBuffer) messages(t *testing.T) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, line := range l.lines(t) {
		counts[line[slog.MessageKey].(string)]++
	}
	return counts
}

func (l *lockedBuffer) last(t *testing.T) map[string]any {
	t.Helper()
	all := l.lines(t)
	return all[len(all)-1]
}
