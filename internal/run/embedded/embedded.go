// Package embedded runs a NATS server inside the process, for a crawl on one machine without any
// setup.
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

// ErrInUse is returned if another process uses the directory.
var ErrInUse = errors.New("in use by another seine")

// Options configure the embedded server.
type Options struct {
	Dir        string // directory of the streams
	Host       string
	Port       int
	SyncAlways bool // fsync every message, to survive power loss
	// Token authenticates clients, because every user of the machine can connect to loopback.
	Token string
	// Key encrypts the streams; "" leaves them unencrypted. It cannot change for an existing
	// directory.
	Key string
	// Private creates a server that accepts connections from inside the process only. It accepts
	// messages of other servers to which some headers were added.
	Private bool
}

// Start starts a server with JetStream in the directory.
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
		// By default the server reserves 75 % of the machine's memory.
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
		// The server caches the subscribers of each subject. Most subjects are those of
		// acknowledgements, which are used once.
		NoSublistCache: true,
		NoSigs:         true, NoLog: true, MaxPayload: payload,
	})
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("set up the embedded NATS server: %w", err)
	}
	trouble := new(fatalLogScanner)
	s.SetLoggerV2(trouble, false, false, false)
	s.Start() // returns once the streams are recovered and clients can connect, or after a fatal error
	if err := trouble.atStart(s, &o); err != nil {
		s.Shutdown()
		_ = lock.Close()
		return nil, err
	}
	return &Server{s: s, lock: lock, log: trouble}, nil
}

// URL returns the server's client URL.
func (s *Server) URL() string { return s.s.ClientURL() }

// Server returns the server, for a connection inside the process.
func (s *Server) Server() *server.Server { return s.s }

// Stop shuts the server down and waits until nothing of it runs, so that its directory may be
// removed. That takes about 60 ms, as the server waits 10 ms for each consumer (nats-server
// 2.15.2). A server that is killed instead loses the acknowledgements of its last 0.1 s, and
// redelivers those messages at its next start.
func (s *Server) Stop() {
	s.dropPullRequests()
	s.s.Shutdown()
	s.s.WaitForShutdown()
	_ = s.lock.Close()
}

// CanBeLeft reports whether a process that exits at once may omit Stop. The server then dies with
// the process, as in a crash, and the directory stays locked until then. Its writes are with the
// operating system. With more than 512 MiB, the recovery at the next start may take longer than
// Stop.
func (s *Server) CanBeLeft() bool {
	info, err := s.s.Jsz(nil)
	return err == nil && info.Store <= maxLeftBytes
}

// maxLeftBytes is the limit of stored bytes for CanBeLeft.
const maxLeftBytes = 512 << 20

// dropPullRequests makes the server drop the pull requests of disconnected clients, as a side
// effect of a request for the state of its consumers. Otherwise Shutdown sleeps for 50 ms after it
// has notified those clients.
func (s *Server) dropPullRequests() {
	_, _ = s.s.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Consumer: true})
}

// privateDir creates a directory that only its owner can enter, since it contains the crawled pages
// and the token.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // another user may have created it
		return fmt.Errorf("restrict the data directory to its owner: %w (it must belong to the user who crawls)", err)
	}
	return nil
}

// NewToken returns a random token.
func NewToken() string { return rand.Text() }

// lockDir locks the directory for this process. The operating system releases the lock when the
// process ends in any way.
func lockDir(dir string) (*os.File, error) {
	f, err := filelock.Take(filepath.Join(dir, "LOCK"))
	if errors.Is(err, filelock.ErrTaken) {
		return nil, fmt.Errorf("data directory %s: %w%s", dir, ErrInUse, ownerOf(filepath.Join(dir, "LOCK")))
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	writeOwner(f)
	return f, nil
}

// writeOwner writes the owner into the lock file, for the error message of other processes. A full disk
// is ignored here; the next write reports it.
func writeOwner(lock *os.File) {
	if err := lock.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(lock, "process %d on %s\n", os.Getpid(), procname.Host())
	}
}

// ownerOf returns the owner of a lock, "" if it is unknown.
func ownerOf(lock string) string {
	text, err := os.ReadFile(lock)
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return " (" + name + ")"
	}
	return ""
}
