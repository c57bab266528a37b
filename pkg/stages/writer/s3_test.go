package writer

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/output/bucket"
	"seine/internal/testing/await"
	"seine/internal/testing/s3server"
	"seine/internal/testing/slow"
)

// onS3 returns a configuration whose output is on an S3 server, under its own prefix.
func onS3(t testing.TB, s *s3server.Server) Config {
	c := testConfig(t)
	c.Out, c.S3 = s.Out(), bucket.Options{Endpoint: s.Endpoint(), PathStyle: true}
	return c
}

// The server is killed and restarted. Partitions wait, and nothing is lost.
func TestS3ServerGoesAway(t *testing.T) {
	slow.Skip(t)
	server := s3server.Start(t)
	bus := startBus(t, false)
	cfg := onS3(t, server)
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 100)
	await.Eventually(t, "commits", func() bool { return w.Totals().Records >= 50 })
	server.Kill()
	publish(t, bus, "a", 100, 300)
	await.Eventually(t, "trouble", func() bool { return w.Err() != nil })
	if err := w.Err(); !strings.Contains(err.Error(), s3server.Bucket) || strings.Contains(err.Error(), s3server.Secret) {
		t.Errorf("the trouble is told as: %v", err)
	}
	server.Start()
	w.catchUp()
	await.Eventually(t, "recovery", func() bool { return w.Err() == nil })
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 300})
	wantTidy(t, cfg)
}

// Errors that a user must fix are reported at once, after few requests and without the secret.
func TestS3Refusals(t *testing.T) {
	server := s3server.Start(t)
	target, err := url.Parse("http://" + server.Addr)
	check(t, err)
	var requests atomic.Int32
	pass := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		pass.ServeHTTP(w, r)
	}))
	defer front.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	refused := func(cfg Config, want string) {
		t.Helper()
		cfg.S3.Endpoint = front.URL
		requests.Store(0)
		err := cfg.CheckOpens()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--out "+cfg.Out) {
			t.Errorf("%v, want %q", err, want)
		}
		if n := requests.Load(); n > 2 {
			t.Errorf("%d requests before %q", n, want)
		}
		bus := startBus(t, false)
		var log bytes.Buffer
		bus.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w, err := New(cfg, bus)
		check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err = w.Run(ctx)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the writer says %v, want %q", err, want)
		}
		secret := os.Getenv("AWS_SECRET_ACCESS_KEY")
		if strings.Contains(log.String()+fmt.Sprint(err), secret) {
			t.Error("the secret is in what it says")
		}
	}
	good := onS3(t, server)
	cfg := good
	cfg.Out = "s3://no-such-bucket/x"
	refused(cfg, "no such bucket")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
	refused(good, "secret key is wrong")
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	refused(good, "access key is not known")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	cfg = good
	if err := cfg.CheckOpens(); err == nil || !strings.Contains(err.Error(), "no credentials found") {
		t.Errorf("without credentials: %v", err)
	}
}
