package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health collects the reasons why a process is not ready. It is safe for concurrent use.
type Health struct {
	mu      sync.Mutex
	checks  map[string]func() error
	started atomic.Bool
}

// NewHealth returns the health of a process that has yet to start.
func NewHealth() *Health {
	h := new(Health)
	h.Add("start", func() error {
		if !h.Started() {
			return errors.New("waiting for the streams or opening its state")
		}
		return nil
	})
	return h
}

// Start records that the process has begun its work.
func (h *Health) Start() { h.started.Store(true) }

// Started reports whether the process has begun its work.
func (h *Health) Started() bool { return h.started.Load() }

// Add registers a check, which must return at once.
func (h *Health) Add(name string, check func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = make(map[string]func() error)
	}
	h.checks[name] = check
}

// Err returns the reasons why the process is not ready, or nil if it is.
func (h *Health) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(h.checks)) {
		if err := h.checks[name](); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// ServeAdmin serves /metrics, /healthz, /readyz and, with profile, /debug/pprof on l until ctx is
// done. /healthz reports that the process runs, /readyz that it can do its work.
func ServeAdmin(ctx context.Context, l net.Listener, h *Health, profile bool) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.InstrumentMetricHandler(prometheus.DefaultRegisterer,
		promhttp.HandlerFor(prometheus.DefaultGatherer, promhttp.HandlerOpts{})))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := h.Err(); err != nil {
			http.Error(w, strings.TrimSpace(err.Error()), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	if profile {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics and health: %w", err)
	}
	return nil
}

// Announce makes the process discoverable with `nats micro ls`.
func Announce(b *Bus, stage, version, name string) error {
	about := map[string]string{"wire": fmt.Sprint(b.Layout.V), "partitions": fmt.Sprint(b.Layout.Partitions)}
	if name != "" {
		about["name"] = name
	}
	_, err := micro.AddService(b.NC, micro.Config{
		Name: "seine-" + stage, Version: version, Description: "Seine " + stage,
		Metadata: about,
	})
	if err != nil {
		return fmt.Errorf("announce %s: %w", stage, err)
	}
	return nil
}
