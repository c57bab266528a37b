package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"seine/internal/ops/overview"
	"seine/internal/testing/freeport"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// terminal is a pseudo-terminal that runs a command.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	gone chan struct{}
	wide bool

	mu  sync.Mutex
	out strings.Builder // since the last change of size
}

func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	x := &terminal{t: t, cmd: exec.Command(filepath.Join(bin, "seine"), args...), gone: make(chan struct{})}
	x.cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=yes")
	var err error
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := x.file.Read(b)
			x.mu.Lock()
			x.out.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		_ = x.cmd.Wait() // the exit code has the result
		close(x.gone)
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		<-x.gone
		_ = x.file.Close()
	})
	return x
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return ansi.Strip(t.out.String())
}

// redrawn returns the screen. Normally only changes are drawn, so it changes the size, which
// redraws everything.
func (t *terminal) redrawn() string {
	t.t.Helper()
	t.mu.Lock()
	t.out.Reset()
	t.mu.Unlock()
	size := pty.Winsize{Rows: 24, Cols: 80}
	if t.wide = !t.wide; t.wide {
		size = pty.Winsize{Rows: 50, Cols: 200}
	}
	if err := pty.Setsize(t.file, &size); err != nil {
		t.t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // waits for the redraw
	return t.text()
}

// shows waits until the screen shows all of the words.
func (t *terminal) shows(words ...string) {
	t.t.Helper()
	eventually(t.t, patience, fmt.Sprintf("show %q", words), func() (bool, string) {
		text := t.redrawn()
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false, text
			}
		}
		return true, ""
	})
}

func (t *terminal) press(keys string) {
	t.t.Helper()
	if _, err := t.file.WriteString(keys); err != nil {
		t.t.Fatal(err)
	}
}

// A user watches and controls a crawl in a terminal while the broker goes down and comes back.
func TestTopInATerminal(t *testing.T) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	c := newCluster(t, shape{})
	spec := file(t, "spec.yaml", "delay: 0s\nallow_private: true\nstate: paused\n")
	wantOutput(t, runSeine(t, "spec", "apply", spec, "--crawl", "op", "--nats", c.url), "as revision 1")
	wantOutput(t, runSeine(t, "seed", site.seed, site.seed+"none", "--crawl", "op", "--nats", c.url), "2 URLs were added")

	top := onTerminal(t, "top", "--nats", c.url, "--every", "200ms")
	top.shows(">op ", "paused")
	top.press("r")
	top.shows("crawl op is resumed")
	top.shows("complete", "404 gone")
	top.press("\t\t\r")
	top.shows("URL     " + site.seed + "none")
	top.press("q")
	watch := seine(t, "", "status", "--watch", "--every", "100ms", "--nats", c.url)
	looks := func() int { return strings.Count(watch.stdout.String(), "crawl op: complete") }
	eventually(t, patience, "see the crawl in words", func() (bool, string) { return looks() > 0, watch.said() })
	c.nats.kill()
	top.shows("connection lost since", "complete") // with the last figures
	eventually(t, patience, "be told of the loss", func() (bool, string) {
		return strings.Contains(watch.stderr.String(), "lost the connection to NATS"), watch.said()
	})
	before := looks()
	c.nats.start()
	eventually(t, patience, "see it again in words", func() (bool, string) { return looks() > before+1, watch.said() })
	if n := strings.Count(watch.stderr.String(), "\n"); n > 2 { // and perhaps a line about the missing leader
		t.Errorf("of one loss it tells %d times:\n%s", n, watch.stderr)
	}
	eventually(t, patience, "forget the lost connection", func() (bool, string) {
		text := top.redrawn()
		return strings.Contains(text, "complete") && !strings.Contains(text, "connection lost"), text
	})
	top.press("q")
	select {
	case <-top.gone:
	case <-time.After(patience):
		t.Fatalf("q does not end it:\n%s", top.text())
	}
	if code := top.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %d", code)
	}

	for _, env := range [][]string{{"TERM=dumb"}, {"TERM="}} {
		dumb := exec.Command(filepath.Join(bin, "seine"), "top", "--nats", c.url)
		dumb.Env = append(os.Environ(), env...)
		f, err := pty.Start(dumb)
		if err != nil {
			t.Fatal(err)
		}
		_ = dumb.Wait() // the exit code has the result
		said := make([]byte, 1024)
		n, _ := f.Read(said)
		_ = f.Close()
		if dumb.ProcessState.ExitCode() != 2 || !strings.Contains(string(said[:n]), "seine status --watch") {
			t.Errorf("with %s: %d, %s", env, dumb.ProcessState.ExitCode(), said[:n])
		}
	}
	if out := runSeine(t, "top", "--nats", c.url); out.code() != 2 || !strings.Contains(out.stderr.String(), "needs a terminal") {
		t.Errorf("without a terminal: %d, %s", out.code(), out.stderr)
	}
}

// Seeds are read from a sitemap and from the failures of another crawl.
func TestSeedFromSitemapAndFailures(t *testing.T) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 8, Sitemap: true, MissingRate: 1})
	c := newCluster(t, shape{})
	seine := func(args ...string) *command { return runSeine(t, append(args, "--nats", c.url)...) }
	if out := seine("seed", "--crawl", "map", site.seed); out.code() != 2 || !strings.Contains(out.stderr.String(), "--new") {
		t.Errorf("into a crawl that nobody has begun: %d, %s", out.code(), out.stderr)
	}
	wantOutput(t, seine("spec", "apply", file(t, "spec.yaml", "delay: 0s\nallow_private: true\n"), "--crawl", "map"), "revision")
	wantOutput(t, seine("seed", "--crawl", "map", "--sitemap", site.seed+"sitemap.xml"), "1 URL was added")
	complete := func(name string) (crawl overview.Crawl) {
		t.Helper()
		eventually(t, patience, "complete crawl "+name, func() (bool, string) {
			crawl = crawlOf(t, c.url, name)
			return crawl.End == frontierapi.Complete, fmt.Sprintf("%+v", crawl)
		})
		return crawl
	}
	failed := complete("map")
	if want := int64(len(site.pages)) + 1; failed.Done != want {
		t.Errorf("%d URLs are done, want %d: the pages, and the sitemap", failed.Done, want)
	}
	if failed.Failed == 0 || failed.Attempts[messages.Gone] == 0 {
		t.Fatalf("nothing has failed: %+v", failed)
	}
	if out := seine("seed", "--crawl", "again", "--new", "--failures-of", "mop"); out.code() != 2 || !strings.Contains(out.stderr.String(), "there is map") {
		t.Errorf("failures of nobody: %d, %s", out.code(), out.stderr)
	}
	if out := seine("spec", "apply", file(t, "spec.yaml", "delay: 0s\n"), "--crawl", "mop"); out.code() != 2 || !strings.Contains(out.stderr.String(), "did you mean map?") {
		t.Errorf("a spec for a crawl of another name: %d, %s", out.code(), out.stderr)
	}
	wantOutput(t, seine("spec", "apply", file(t, "spec.yaml", "delay: 0s\nallow_private: true\n"), "--crawl", "again", "--new"), "revision")
	wantOutput(t, seine("seed", "--crawl", "again", "--failures-of", "map", "--class", "timeout"), "0 URLs were added")
	seine("seed", "--crawl", "again", "--failures-of", "map", "--class", "gone").expect(0)
	if again := complete("again"); again.Known() != failed.Attempts[messages.Gone] || again.Failed != again.Known() {
		t.Errorf("of %d that were gone %d are tried again, and %d fail", failed.Attempts[messages.Gone], again.Known(), again.Failed)
	}
}

// crawlOf returns the status of one crawl.
func crawlOf(t *testing.T, url, name string) overview.Crawl {
	t.Helper()
	var o overview.Overview
	out := runSeine(t, "status", "--json", "--every", "100ms", "--crawl", name, "--nats", url)
	if err := json.Unmarshal([]byte(out.stdout.String()), &o); err != nil || len(o.Crawls) != 1 {
		t.Fatalf("status: %v: %s%s", err, out.stdout, out.stderr)
	}
	return o.Crawls[0]
}

// The stages of seine crawl are listed like those in separate processes, and have the same metrics.
func TestStatusOfOneCommand(t *testing.T) {
	site, web := testSite(t, testweb.Config{PagesPerHost: 1})
	g := newGate(t, web, "/gate")
	port := freeport.Get(t)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	nats := startNATS(t, t.TempDir(), port)
	metrics := freeport.Addr(t)
	run := newWorkspace(t).crawl("--nats", url, "--crawl", "one", "--metrics", metrics, "--warc", filepath.Join(t.TempDir(), "warc"), site.seed+"gate")
	g.wait(t)
	text := metricsAt(metrics)
	for _, m := range []string{
		`seine_messages_handled_total{outcome="done",stage="frontier"} 1`, `seine_build_info{`,
		`seine_disk_free_bytes{place="data"} `, `seine_disk_free_bytes{place="out"} `, `seine_disk_free_bytes{place="archive"} `,
	} {
		if !strings.Contains(text, "\n"+m) {
			t.Errorf("the metrics of one command lack %s", m)
		}
	}
	eventually(t, patience, "see all stages", func() (bool, string) {
		out := runSeine(t, "status", "--every", "100ms", "--nats", url)
		text := strings.Join(strings.Fields(out.stdout.String()), " ")
		for _, stage := range []string{"frontier", "fetcher", "parser", "writer default"} {
			if !strings.Contains(text, stage+" 1 ") {
				return false, out.said()
			}
		}
		return strings.Contains(text, "crawl one: running"), out.said()
	})
	if got := readyAt(metrics); got != "200 OK: ready\n" {
		t.Errorf("a crawl that goes on answers %q", got)
	}
	nats.kill()
	eventually(t, patience, "see that NATS is away", func() (bool, string) {
		got := readyAt(metrics)
		return got == "503 Service Unavailable: nats: not connected\n", got
	})
	nats.start()
	g.open()
	run.expect(0)
}
