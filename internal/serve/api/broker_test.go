package api_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/run/connect"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/cluster"
	"seine/internal/testing/await"
	"seine/internal/testing/stagestest"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// A server continues after an outage of NATS, and reports the outage while it lasts.
func TestServerOutlivesTheBroker(t *testing.T) {
	t.Parallel()
	broker, bus := stagestest.Open(t)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	spec := crawlspec.Default()
	if _, err := specs.Put(t.Context(), "c", &spec); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, filepath.Join(t.TempDir(), "none"), func(_ *serve.Options, a *api.Options) {
		a.Cluster = cluster.New(connect.Operator{Options: connect.Options{NATS: broker.URL()}}, slog.New(slog.DiscardHandler))
		t.Cleanup(a.Cluster.Close)
	})
	s.want(200, nil, "GET", "/crawls/c/spec", "")
	// No frontier runs: the server reports that it is missing.
	if a := s.do("GET", "/hosts", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(s.problemOf(a), "start a frontier") {
		t.Errorf("%v", a)
	}
	broker.Stop()
	if a := s.do("GET", "/crawls/c/spec", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(s.problemOf(a), "try again in a moment") || a.header.Get("Retry-After") == "" {
		t.Errorf("%v", a)
	}
	broker.Start()
	await.Eventually(t, "the server has NATS again", func() bool { return s.do("GET", "/crawls/c/spec", "").status == http.StatusOK })
}
