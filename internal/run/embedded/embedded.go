// Package embedded runs a NATS server inside the process, for a crawl on one
// machine with nothing to set up.
package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"seine/internal/base/filelock"
	"seine/internal/base/procname"
)

// Server is a running NATS server.
type Server struct {
	s    *server.Server
	lock *os.File
	log  *fatalLogScanner
}

// ErrInUse is returned when another process uses the directory.
var ErrInUse = errors.New("in use by another seine")

// Options of a server.
type Options struct {
	Dir        string // where the streams are kept
	Host       string
	Port       int
	SyncAlways bool // fsync every message: survives power loss
	// Token is what clients must show: loopback is open to everyone on the machine.
	Token string
	// Key encrypts the streams; "" leaves them in the clear. It is the same for as long as
	// the directory lives.
	Key string
	// Private makes a server that can be reached from inside the process alone, and
	// takes messages of other servers with some headers more.
	Private bool
}

// Start starts a server with JetStream on the directory.
func Start(o Options) (*Server, error) {
	if err := privateDir(o.Dir); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	payload := int32(server.MAX_PAYLOAD_SIZE)
	if o.Private {
		payload *= 2
	}
	s, err := server.NewServer(&server.Options{
		DontListen: o.Private,
		ServerName: "seine-embedded", Host: o.Host, Port: o.Port, Authorization: o.Token,
		JetStream: true, JetStreamKey: o.Key, JetStreamCipher: server.ChaCha, StoreDir: o.Dir, SyncAlways: o.SyncAlways,
		// Without limits the server takes 75 % of the machine.
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
		// It remembers for each subject who listens. Most are those of acknowledgements,
		// each of which is used once.
		NoSublistCache: true,
		NoSigs:         true, NoLog: true, MaxPayload: payload,
	})
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("set up the embedded NATS server: %w", err)
	}
	trouble := new(fatalLogScanner)
	s.SetLoggerV2(trouble, false, false, false)
	s.Start() // returns once the streams are recovered and clients can connect, or never will
	if err := trouble.atStart(s, &o); err != nil {
		s.Shutdown()
		_ = lock.Close()
		return nil, err
	}
	return &Server{s: s, lock: lock, log: trouble}, nil
}

// URL is where clients find the server.
func (s *Server) URL() string { return s.s.ClientURL() }

// Server returns the server, for a connection inside the process.
func (s *Server) Server() *server.Server { return s.s }

// Stop ends the server in order, and waits until nothing of it is left: its directory may be
// removed then. It takes some 60 ms, as the server waits 10 ms for each consumer (nats-server
// 2.15.2). A server that dies instead forgets what was acknowledged in its last 0.1 s, and
// delivers that again at its next start.
func (s *Server) Stop() {
	s.dropPullRequests()
	s.s.Shutdown()
	s.s.WaitForShutdown()
	_ = s.lock.Close()
}

// CanBeLeft reports whether a process that ends at once need not call Stop: the server then dies with it, as in a
// crash, and the directory stays taken until then. What it has stored is with the operating system. Of more than 512 MiB,
// what the next start has to read may take longer than Stop saves.
func (s *Server) CanBeLeft() bool {
	info, err := s.s.Jsz(nil)
	return err == nil && info.Store <= leavable
}

// leavable is up to how many stored bytes a server may be left.
const leavable = 512 << 20

// dropPullRequests lets the server forget the pull requests of clients that are gone, by asking
// it for the state of its consumers. It would otherwise sleep for 50 ms in Shutdown after
// it has told them that it ends.
func (s *Server) dropPullRequests() {
	_, _ = s.s.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Consumer: true}) // else it sleeps
}

// privateDir makes a directory that only its owner can enter: what is crawled
// is in it, and so is the token.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // another user may have made it
		return fmt.Errorf("close the data directory to others: %w (it must belong to the user who crawls)", err)
	}
	return nil
}

// NewToken makes a token that cannot be guessed.
func NewToken() string { return rand.Text() }

// lockDir takes the directory for this process; the system gives it back when
// the process ends, however that happens.
func lockDir(dir string) (*os.File, error) {
	f, err := filelock.Take(filepath.Join(dir, "LOCK"))
	if errors.Is(err, filelock.ErrTaken) {
		return nil, fmt.Errorf("data directory %s: %w%s", dir, ErrInUse, holder(filepath.Join(dir, "LOCK")))
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	sign(f)
	return f, nil
}

// sign writes the holder into the lock, for processes that find it taken. A full disk is reported
// by the next write.
func sign(lock *os.File) {
	if err := lock.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(lock, "process %d on %s\n", os.Getpid(), procname.Host())
	}
}

// holder is the owner of a lock, "" if that is unknown.
func holder(lock string) string {
	text, err := os.ReadFile(lock)
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return " (" + name + ")"
	}
	return ""
}
