// Package pgserver runs a real PostgreSQL server on loopback, for tests. scripts/postgres installs
// its programs.
package pgserver

import (
	"cmp"
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

// SetEnvironment removes this machine's PostgreSQL settings from the environment of this process
// and its children.
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

// Server is a server that syncs its disk as for real data.
type Server struct {
	Addr string
	Dir  string // writable by the server's user; removed with the server

	t         testing.TB
	bin       string
	as        *syscall.Credential // nil for the current user
	cmd       *exec.Cmd
	log       *os.File
	databases atomic.Int32
}

// Start starts a server that runs until the end of the test. Without the programs it fails in CI
// and skips the test elsewhere.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, bin: programs(t), as: otherUser(t), Addr: freeport.Addr(t)}
	dir, err := os.MkdirTemp("", "seine-postgres-*") // a test's own folder is only accessible to its user
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

// Start starts the server, also after Kill.
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
		// Processes that a killed server left behind may not be gone yet.
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(s.log.Name())
			s.t.Fatalf("the server does not start:\n%s", log[max(0, len(log)-2000):])
		}
	}
}

// isUp waits until the server answers. It returns false if the server has ended.
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

// Kill kills the first process of the server (SIGKILL); the other processes notice.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	for s.cmd.Process.Signal(syscall.Signal(0)) == nil {
		time.Sleep(time.Millisecond)
	}
}

func (s *Server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // immediate shutdown of all its processes
	for s.cmd.Process.Signal(syscall.Signal(0)) == nil {
		time.Sleep(time.Millisecond)
	}
	_ = s.log.Close()
}

// Database creates a database for one caller and returns its name.
func (s *Server) Database() string {
	s.t.Helper()
	name := "test" + strconv.Itoa(int(s.databases.Add(1)))
	s.Exec("postgres", "CREATE DATABASE "+name)
	return name
}

// DSN returns the connection URL of a database.
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

// Mkdir creates a folder for the server, such as one for a tablespace.
func (s *Server) Mkdir(name string) string {
	s.t.Helper()
	dir := filepath.Join(s.Dir, name)
	check(s.t, os.Mkdir(dir, 0o755))
	s.Own(dir)
	return dir
}

// Own makes the server's user the owner of a folder.
func (s *Server) Own(dir string) {
	s.t.Helper()
	if s.as != nil {
		check(s.t, os.Chown(dir, int(s.as.Uid), int(s.as.Gid)))
	}
	check(s.t, os.Chmod(dir, 0o700))
}

// otherUser returns the user that runs the server if the current one is root, because PostgreSQL
// refuses root.
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

// programs returns the folder with the newest server programs.
func programs(t testing.TB) string {
	t.Helper()
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(majorVersion(b), majorVersion(a)) })
	if p, err := exec.LookPath("initdb"); err == nil {
		all = append(all, p)
	}
	if len(all) == 0 {
		missing(t, "no PostgreSQL server")
	}
	return filepath.Dir(all[0])
}

// majorVersion returns the version in a path such as /usr/lib/postgresql/15/bin/initdb, 0 for none.
func majorVersion(initdb string) int {
	major, _, _ := strings.Cut(filepath.Base(filepath.Dir(filepath.Dir(initdb))), ".")
	n, _ := strconv.Atoi(major)
	return n
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s: run scripts/postgres", what)
	}
	t.Skipf("%s: run scripts/postgres", what)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
