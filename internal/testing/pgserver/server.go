// Package pgserver runs a real PostgreSQL server on loopback, for tests. Its programs
// are installed by scripts/postgres.
package pgserver

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"seine/internal/base/childproc"
	"seine/internal/testing/freeport"
)

// Credentials of the server's superuser.
const (
	User     = "seine"
	Password = "seine-test-password-0123456789"
)

// SetEnvironment makes this process and those it starts take nothing from what this
// machine may have for PostgreSQL.
func SetEnvironment() {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "PG") {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("PGPASSFILE", os.DevNull)
	_ = os.Setenv("PGSERVICEFILE", os.DevNull)
	_ = os.Setenv("PGSSLMODE", "disable")
}

// Server is a server whose disk is synced as it would be for real data.
type Server struct {
	Addr string
	Dir  string // may be written by the server's user, and is removed with it

	t         testing.TB
	bin       string
	as        *syscall.Credential // nil for this user
	cmd       *exec.Cmd
	log       *os.File
	databases atomic.Int32
}

// Start starts a server until the test ends. Without the programs it fails in CI, and
// skips the test elsewhere.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, bin: programs(t), as: otherUser(t), Addr: freeport.Addr(t)}
	dir, err := os.MkdirTemp("", "seine-postgres-*") // the folder of a test is its user's alone
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.Dir = dir
	if s.as != nil {
		check(t, os.Chown(dir, int(s.as.Uid), int(s.as.Gid)))
	}
	secret := filepath.Join(dir, "password")
	check(t, os.WriteFile(secret, []byte(Password), 0o644))
	init := s.command("initdb", "--no-sync", "--no-locale", "--encoding=UTF8", "--auth=scram-sha-256",
		"--username="+User, "--pwfile="+secret, "--pgdata="+s.data())
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.log, err = os.Create(filepath.Join(dir, "log"))
	check(t, err)
	s.Start()
	t.Cleanup(s.end)
	return s
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.Dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return c
}

// Start starts the server, again after Kill.
func (s *Server) Start() {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	deadline := time.Now().Add(time.Minute)
	for {
		s.cmd = s.command("postgres", "-D", s.data(), "-p", port, "-h", "127.0.0.1", "-k", s.Dir,
			"-c", "shared_buffers=32MB", "-c", "max_wal_size=128MB", "-c", "log_min_messages=log")
		s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
		check(s.t, childproc.Start(s.cmd))
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.cmd.Wait() }()
		if s.isUp(ended, deadline) {
			return
		}
		// What a killed one has left running is not gone yet.
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(s.log.Name())
			s.t.Fatalf("the server does not start:\n%s", log[max(0, len(log)-2000):])
		}
	}
}

// isUp waits until the server answers, or has ended.
func (s *Server) isUp(ended <-chan struct{}, deadline time.Time) bool {
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := pgx.Connect(ctx, s.DSN("postgres"))
		if err == nil {
			_ = c.Close(ctx)
		}
		cancel()
		if err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// Kill ends the server as kill -9 of its first process does; the others notice.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	for s.cmd.Process.Signal(syscall.Signal(0)) == nil {
		time.Sleep(time.Millisecond)
	}
}

func (s *Server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // at once, with all its processes
	for s.cmd.Process.Signal(syscall.Signal(0)) == nil {
		time.Sleep(time.Millisecond)
	}
	_ = s.log.Close()
}

// Database makes a database that nobody else has, and returns its name.
func (s *Server) Database() string {
	s.t.Helper()
	name := "test" + strconv.Itoa(int(s.databases.Add(1)))
	s.Exec("postgres", "CREATE DATABASE "+name)
	return name
}

// DSN returns what leads to a database.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s", User, Password, s.Addr, database)
}

// Exec runs statements in a database.
func (s *Server) Exec(database, statements string) {
	s.t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.DSN(database))
	check(s.t, err)
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, statements)
	check(s.t, err)
}

// Mkdir makes a folder for the server, such as that of a tablespace.
func (s *Server) Mkdir(name string) string {
	s.t.Helper()
	dir := filepath.Join(s.Dir, name)
	check(s.t, os.Mkdir(dir, 0o755))
	s.Own(dir)
	return dir
}

// Own gives a folder to the server's user.
func (s *Server) Own(dir string) {
	s.t.Helper()
	if s.as != nil {
		check(s.t, os.Chown(dir, int(s.as.Uid), int(s.as.Gid)))
	}
	check(s.t, os.Chmod(dir, 0o700))
}

// otherUser returns whom the server runs as, which must not be root.
func otherUser(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	missing(t, "no user but root")
	return nil
}

// programs returns the folder of the server's programs, the newest there are.
func programs(t testing.TB) string {
	t.Helper()
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(all, func(a, b string) int { return bytes.Compare([]byte(b), []byte(a)) })
	if p, err := exec.LookPath("initdb"); err == nil {
		all = append(all, p)
	}
	if len(all) == 0 {
		missing(t, "no PostgreSQL server")
	}
	return filepath.Dir(all[0])
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: scripts/postgres installs it", what)
	}
	t.Skipf("%s here: scripts/postgres installs it", what)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
