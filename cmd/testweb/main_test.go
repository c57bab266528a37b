package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"seine/internal/testing/testweb"
)

func parse(t *testing.T, args ...string) flags {
	t.Helper()
	var f flags
	parser, err := kong.New(&f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRunServesAndWritesTheLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<p>mine</p>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"generated": {[]string{"--pages=5"}, "Page 0 of host 0"},
		"demo":      {[]string{"--demo"}, "Rivers and Nets"},
		"shape":     {[]string{"--shape=opportunities"}, "Opportunities by state"},
		"dir":       {[]string{"--dir=" + dir}, "<p>mine</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			logFile := filepath.Join(t.TempDir(), "log.jsonl")
			f := parse(t, append(c.args, "--addr=127.0.0.1:0", "--log="+logFile)...)
			if body := runOnce(t, f); !strings.Contains(body, c.want) {
				t.Errorf("body %q", body)
			}
			line, err := os.ReadFile(logFile)
			if err != nil {
				t.Fatal(err)
			}
			var r testweb.Request
			if err := json.Unmarshal(line, &r); err != nil || !strings.HasPrefix(r.Path, "/") || r.Status != 200 || r.End.IsZero() {
				t.Errorf("log %q: %v", line, err)
			}
		})
	}
}

// runOnce runs the command, fetches the page that it names, and ends the command.
func runOnce(t *testing.T, f flags) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, f, in) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, start, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "http://"), ":")
	res, err := http.Get("http://127.0.0.1:" + start)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return string(body)
}

func TestListPrintsEachPageOfEachHost(t *testing.T) {
	var out strings.Builder
	f := parse(t, "--list", "--hosts=2", "--pages=30", "--domain=web.test", "--addr=0.0.0.0:8080")
	if err := run(t.Context(), f, &out); err != nil {
		t.Fatal(err)
	}
	web := testweb.New(f.config())
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if want := len(web.Pages(0)) + len(web.Pages(1)); len(lines) != want || lines[0] != "http://h0.web.test:8080/" {
		t.Errorf("%d lines, want %d; the first is %q", len(lines), want, lines[0])
	}
	if err := run(t.Context(), parse(t, "--list", "--demo"), &out); err == nil {
		t.Error("the demo site has no list, and that is not said")
	}
}

func TestDefaults(t *testing.T) {
	f := parse(t)
	if f.Addr != "127.0.0.1:8080" || f.Seed != 1 || f.config().RobotsTxt != testweb.RobotsRules {
		t.Errorf("%+v", f)
	}
}
