// Package embedded runs a NATS server inside the process, for a crawl on one
// machine with nothing to set up.
package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a running NATS server.
type Server struct {
	s    *server.Server
	lock *os.File
	log  *troubleLog
}

// ErrInUse is returned when another process uses the directory.
var ErrInUse = errors.New("in use by another seine")

// Options of a server.
type Options struct {
	Dir        string // where the streams are kept
	Host       string
	Port       int
	SyncAlways bool // fsync every message: survives power loss
}

// startTimeout bounds the recovery of the streams after a crash.
const startTimeout = 2 * time.Minute

// Start starts a server with JetStream on the directory.
func Start(o Options) (*Server, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "seine-embedded", Host: o.Host, Port: o.Port,
		JetStream: true, StoreDir: o.Dir, SyncAlways: o.SyncAlways,
		// Without limits of its own the server takes 75 % of the machine.
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
		NoSigs: true, NoLog: true, MaxPayload: server.MAX_PAYLOAD_SIZE,
	})
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("set up the embedded NATS server: %w", err)
	}
	trouble := new(troubleLog)
	s.SetLoggerV2(trouble, false, false, false)
	go s.Start()
	if !ready(s) {
		s.Shutdown()
		_ = lock.Close()
		return nil, fmt.Errorf("the embedded NATS server did not start on %s:%d: is the port free", o.Host, o.Port)
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		_ = lock.Close()
		return nil, fmt.Errorf("the embedded NATS server cannot store its streams in %s: is the disk full or read-only", o.Dir)
	}
	return &Server{s: s, lock: lock, log: trouble}, nil
}

// ready waits until the server takes connections. The server's own wait looks
// only every 25 ms.
func ready(s *server.Server) bool {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if s.ReadyForConnections(time.Millisecond) {
			return true
		}
	}
	return false
}

// abandonable is how much may be stored for Stop to leave the server as a crash
// would: reading so much again at the next start takes less than an orderly
// stop, which waits 10 ms for each consumer (nats-server 2.15.2).
const abandonable = 64 << 20

// URL is where clients find the server.
func (s *Server) URL() string { return s.s.ClientURL() }

// Server returns the server, for a connection inside the process.
func (s *Server) Server() *server.Server { return s.s }

// Stop ends the server. Everything it acknowledged is with the operating
// system already. The process must not go on for long after: see abandonable.
func (s *Server) Stop() {
	if info, err := s.s.Jsz(nil); err != nil || info.Store > abandonable {
		s.s.Shutdown()
		s.s.WaitForShutdown()
	}
	_ = s.lock.Close()
}

// lockDir takes the directory for this process; the system gives it back when
// the process ends, however that happens.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("data directory %s: %w", dir, ErrInUse)
	}
	return f, nil
}
