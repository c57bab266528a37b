package check

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/freeport"
	"seine/internal/testing/natstest"
)

// stageProcess is a container of the chart as a process: its environment and flags, with the paths, ports and server of a
// test in place of a pod's.
type stageProcess struct {
	cmd     *exec.Cmd
	log     await.Log
	metrics string
	http    string // of serve
}

// startStage starts one with its volumes in a folder.
func startStage(t *testing.T, w workload, nats, dir string) *stageProcess {
	t.Helper()
	p := &stageProcess{metrics: freeport.Addr(t), http: freeport.Addr(t)}
	command := commandOf(w.component())
	p.cmd = exec.Command(filepath.Join(binaries, command[0]), w.pod.Spec.Containers[0].Args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SEINE_") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	for name, value := range w.environment() {
		switch value {
		case ":9400":
			value = p.metrics
		case "127.0.0.1:8077", ":8077":
			value = p.http
		case "/state", "/out", "/state/tokens.json":
			value = filepath.Join(dir, value)
		case "nats://seine-nats:4222":
			value = nats
		}
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// answers reports whether a probe passes.
func (p *stageProcess) answers(path string) bool {
	resp, err := http.Get("http://" + p.metrics + path)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// The stages run by the environment that the chart gives them: they know all of it, pass their probes, and end when the
// kubelet asks.
func TestStagesRunAsTheChartStartsThem(t *testing.T) {
	if err := built(); err != nil {
		t.Fatal(err)
	}
	broker := natstest.NewBroker(t)
	running := make(map[string]*stageProcess)
	for _, w := range workloads(rendered(t, `{serve: {enabled: true}}`)) {
		running[w.component()] = startStage(t, w, broker.URL(), t.TempDir())
	}
	if len(running) != 5 {
		t.Fatalf("the chart starts %v", running)
	}
	for component, p := range running {
		await.Eventually(t, component+" is ready", func() bool { return p.answers("/healthz") && p.answers("/readyz") })
	}
	for component, p := range running {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil || p.log.Has("does nothing") {
			t.Errorf("%s: %v\n%s", component, err, p.log.String())
		}
	}
}

// A token that was made while serve ran for port forwarding lets in when it runs for others, who get nothing without.
func TestServeTakesTokensFromItsVolume(t *testing.T) {
	if err := built(); err != nil {
		t.Fatal(err)
	}
	broker, dir := natstest.NewBroker(t), t.TempDir()
	serve := func(access string) *stageProcess {
		for _, w := range workloads(rendered(t, "serve: {enabled: true, access: "+access+"}")) {
			if w.component() == "serve" {
				p := startStage(t, w, broker.URL(), dir)
				await.Eventually(t, "serve is ready", func() bool { return p.answers("/readyz") })
				return p
			}
		}
		t.Fatal("the chart has no serve")
		return nil
	}
	local := serve("local")
	create := exec.Command(filepath.Join(binaries, "seine"), "token", "create", "laptop", "--scope", "read,write", "--tokens", filepath.Join(dir, "state", "tokens.json"))
	token, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := local.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = local.cmd.Wait()
	open := serve("tokens")
	for secret, want := range map[string]int{"": http.StatusUnauthorized, strings.TrimSpace(string(token)): http.StatusOK} {
		if got := open.asks(t, secret); got != want {
			t.Errorf("with the token %.10q it answers %d, want %d", secret, got, want)
		}
	}
}

// asks returns how the API answers to who shows a token.
func (p *stageProcess) asks(t *testing.T, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.http+"/api/v1/status", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
