package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// get asks the API server as the administrator; answer may be nil.
func (c *cluster) get(path string, answer any) error {
	return c.call(http.MethodGet, path, nil, answer)
}

// patch merges something into an object.
func (c *cluster) patch(path string, merge any) error {
	return c.call(http.MethodPatch, path, merge, nil)
}

// call sends a request with a body as JSON, which may be nil.
func (c *cluster) call(method, path string, body, answer any) error {
	js, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+path, bytes.NewReader(js))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", map[string]string{http.MethodPatch: "application/merge-patch+json"}[method])
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// command runs kubectl or Helm as the administrator. What it says beside its output, warnings among it, is in the error or
// in said.
func (c *cluster) command(t *testing.T, name, stdin string, args ...string) (out, said string, err error) {
	t.Helper()
	cmd := exec.Command(program(t, name), args...)
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "KUBECONFIG="+c.config)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), stderr.String(), err
}

// kubectl runs it, with no error and no warning.
func (c *cluster) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	return c.mustSayNothing(t, "kubectl", stdin, args...)
}

// helm runs it, with no error and no warning.
func (c *cluster) helm(t *testing.T, args ...string) string {
	t.Helper()
	return c.mustSayNothing(t, "helm", "", args...)
}

func (c *cluster) mustSayNothing(t *testing.T, name, stdin string, args ...string) string {
	t.Helper()
	out, said, err := c.command(t, name, stdin, args...)
	if err != nil || strings.Contains(said, "arning") {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, said, out)
	}
	return out
}
