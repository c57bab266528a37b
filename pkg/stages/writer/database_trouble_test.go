package writer

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/sqlite"
	"seine/internal/output/sqlsink"
	"seine/internal/testing/await"
	"seine/internal/testing/faultproxy"
	"seine/internal/testing/pgserver"
)

// The server is killed during a transaction and restarted. Partitions wait, and nothing is lost.
func TestPostgresServerGoesAway(t *testing.T) {
	server := pgserver.Start(t)
	bus := startBus(t, false)
	cfg := onPostgres(t, server)
	var passed atomic.Int32
	killed := make(chan struct{})
	w := start(t, bus, cfg, func(w *Writer) {
		w.hook = func(step string) error {
			if step == sqlsink.StepEntry && passed.Add(1) == 3 {
				server.Kill()
				close(killed)
			}
			return nil
		}
	})
	publish(t, bus, "a", 0, 400)
	<-killed
	publish(t, bus, "a", 400, 600)
	await.Eventually(t, "trouble", func() bool { return w.Err() != nil })
	if err := w.Err(); !strings.Contains(err.Error(), server.Addr) || strings.Contains(err.Error(), pgserver.Password) {
		t.Errorf("the trouble is told as: %v", err)
	}
	server.Start()
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil })
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 600})
	wantTidy(t, cfg)
}

// onLink returns cfg with a fault proxy in front of its server.
func onLink(t testing.TB, cfg Config, server *pgserver.Server) (Config, *faultproxy.Proxy) {
	k, err := faultproxy.New(server.Addr)
	check(t, err)
	t.Cleanup(k.Close)
	cfg.Out = strings.Replace(cfg.Out, server.Addr, k.Addr(), 1)
	return cfg, k
}

// Connections are lost at random. Once, a transaction is committed and its writer does not receive
// the response.
func TestPostgresConnectionLost(t *testing.T) {
	server := pgserver.Start(t)
	bus := startBus(t, false)
	direct := onPostgres(t, server)
	cfg, k := onLink(t, direct, server)
	var passed atomic.Int32
	w := start(t, bus, cfg, func(w *Writer) {
		w.hook = func(step string) error {
			if step == output.StepEntrySynced && passed.Add(1) == 2 {
				k.DropResponses()
				time.AfterFunc(300*time.Millisecond, func() { k.Reset(); k.Restore() })
			}
			return nil
		}
	})
	n := 0
	for range 20 {
		publish(t, bus, "a", n, n+60)
		n += 60
		<-time.After(rand.N(100 * time.Millisecond)) // the test needs a random delay
		if passed.Load() > 3 {
			k.Reset()
		}
	}
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil })
	w.end()
	wantExactly(t, direct, map[string]int{"a": n})
	wantTidy(t, direct)
}

// With a wrong password the writer stops at once after few connections. It never logs or returns
// the password.
func TestPostgresRefusal(t *testing.T) {
	server := pgserver.Start(t)
	cfg, k := onLink(t, onPostgres(t, server), server)
	const wrong = "not-the-secret"
	cfg.Out = strings.Replace(cfg.Out, pgserver.Password, wrong, 1)
	bus := startBus(t, false)
	var log bytes.Buffer
	bus.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w, err := New(cfg, bus)
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = w.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "refuses the password") || ctx.Err() != nil {
		t.Fatalf("the writer says: %v", err)
	}
	if strings.Contains(err.Error()+log.String(), wrong) {
		t.Errorf("the password is in what it says: %v\n%s", err, log.String())
	}
	if err := cfg.CheckOpens(); err == nil || strings.Contains(err.Error(), wrong) {
		t.Errorf("checked: %v", err)
	}
	if n := k.Accepted(); n > 4 {
		t.Errorf("%d connections for two attempts", n)
	}
}

// tmpfs mounts a small disk and returns a function that enlarges it.
func tmpfs(t testing.TB, dir string) (makeRoom func()) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small disk needs root: mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return func() { check(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m")) }
}

// A full database disk makes partitions wait.
func TestDatabaseDiskFull(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	t.Run("SQLite", func(t *testing.T) {
		dir := t.TempDir()
		makeRoom := tmpfs(t, dir)
		cfg := testConfig(t)
		cfg.Out = sqlite.Scheme + filepath.Join(dir, "crawl.db")
		databaseDiskFull(t, cfg, "no space left", makeRoom)
		wantIntegrity(t, cfg, map[string]int{"a": 6000})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgserver.Start(t)
		dir := server.Mkdir("small")
		makeRoom := tmpfs(t, dir)
		server.Own(dir)
		t.Cleanup(server.Kill) // before the disk is unmounted
		server.Exec("postgres", `CREATE TABLESPACE small LOCATION '`+dir+`'`)
		cfg := onPostgres(t, server)
		cfg.Out += "?default_tablespace=small"
		databaseDiskFull(t, cfg, "the server's disk is full", makeRoom)
	})
}

func databaseDiskFull(t *testing.T, cfg Config, says string, makeRoom func()) {
	bus := startBus(t, false)
	cfg.ChunkRecords = 2000
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 6000)
	await.Eventually(t, "trouble", func() bool { return w.Err() != nil })
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the trouble is told as: %v", err)
	}
	makeRoom()
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil && w.Totals().Records == 6000 })
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 6000})
	wantTidy(t, cfg)
}

// An existing file that is not a database is refused at the start.
func TestSQLiteRefusal(t *testing.T) {
	cfg := onSQLite(t)
	file := sqlite.File(cfg.Out)
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(t, os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o644))
	w, err := New(cfg, startBus(t, false))
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := w.Run(ctx); err == nil || !strings.Contains(err.Error(), "--out "+cfg.Out+": is not an SQLite database") {
		t.Errorf("%v", err)
	}
}
