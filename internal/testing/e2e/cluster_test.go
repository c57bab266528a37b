package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/childproc"
	"seine/internal/testing/freeport"
	"seine/internal/testing/natscluster"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// process is a command that runs until it is stopped.
type process struct {
	t    *testing.T
	name string
	args []string
	dir  string   // folder of the commands of its build, "" for those under test
	env  []string // in addition to the test's environment
	cmd  *exec.Cmd
	log  *logBuffer
	gone chan struct{}
	err  error // of Wait, once gone is closed
}

// logBuffer keeps the output of a process, to print it if the test fails.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	return (&process{t: t, name: name, args: args}).begin()
}

// begin starts a process for the first time. The process ends with the test.
func (p *process) begin() *process {
	t, name, args := p.t, p.name, p.args
	t.Helper()
	p.log = new(logBuffer)
	p.start()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			lines := strings.Split(p.log.String(), "\n")
			t.Logf("last words of %s %v:\n%s", name, args, strings.Join(lines[max(0, len(lines)-25):], "\n"))
		}
	})
	return p
}

func (p *process) start() {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(cmp.Or(p.dir, bin), p.name), p.args...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.Env = slices.Concat(os.Environ(), []string{"SEINE_NATS_URL="}, p.env)
	if err := childproc.Start(cmd); err != nil {
		p.t.Fatal(err)
	}
	gone := make(chan struct{})
	p.cmd, p.gone = cmd, gone
	go func() {
		p.err = cmd.Wait()
		close(gone)
	}()
}

func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// kill kills the process, as in a crash, and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.gone
}

// drain stops the process as a deployment does.
func (p *process) drain() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.gone:
		if p.err != nil {
			p.t.Errorf("%s ended with %v", p.name, p.err)
		}
	case <-time.After(45 * time.Second):
		p.t.Errorf("%s does not end", p.name)
	}
}

// cluster is a nats-server and the four stages, each in its own process.
type cluster struct {
	t     *testing.T
	dir   string
	build string // build of the stages: see process.dir
	url   string
	nats  *process             // nil with several nodes
	nodes *natscluster.Cluster // nil with one server
	front *process
	fetch []*process
	parse []*process
	write []*process
}

// shape says how many processes a cluster has and with which flags.
type shape struct {
	build                      string // of the stages: see process.dir
	nodes                      int    // of NATS, 0 for a server without a cluster
	fetchers, parsers, writers int
	frontierArgs, fetcherArgs  []string
	parserArgs                 []string
	writerAge                  string
}

func newCluster(t *testing.T, s shape) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), build: s.build}
	if s.nodes > 0 {
		c.startNodes(s.nodes)
	} else {
		port := freeport.Get(t)
		c.url = fmt.Sprintf("nats://127.0.0.1:%d", port)
		c.nats = startNATS(t, filepath.Join(c.dir, "nats"), port)
	}
	stage := c.stage
	c.front = stage("frontier", append([]string{"--state", filepath.Join(c.dir, "frontier")}, s.frontierArgs...)...)
	for range max(1, s.fetchers) {
		c.fetch = append(c.fetch, stage("fetcher", s.fetcherArgs...))
	}
	for range max(1, s.parsers) {
		c.parse = append(c.parse, stage("parser", s.parserArgs...))
	}
	if s.writerAge == "" {
		s.writerAge = "1s"
	}
	for i := range max(1, s.writers) {
		c.write = append(c.write, stage("writer", "--out", c.out(), "--state", filepath.Join(c.dir, fmt.Sprint("writer", i)), "--chunk-age", s.writerAge))
	}
	return c
}

// startNATS starts a nats-server with its data in dir and waits until it accepts connections,
// because commands do not wait. It sets a storage limit, because the default, three quarters of the
// free disk space, may be below the reservations of the streams.
func startNATS(t *testing.T, dir string, port int) *process {
	t.Helper()
	config := file(t, "nats-server.conf", "jetstream { max_file_store: 64GB }\n")
	p := start(t, "nats-server", "-c", config, "-js", "-sd", dir, "-a", "127.0.0.1", "-p", fmt.Sprint(port))
	awaitConnections(t, fmt.Sprintf("127.0.0.1:%d", port), p)
	return p
}

func awaitConnections(t *testing.T, address string, p *process) {
	t.Helper()
	eventually(t, patience, "take connections", func() (bool, string) {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return false, err.Error()
		}
		return conn.Close() == nil, ""
	}, p)
}

// stage starts another process of a stage.
func (c *cluster) stage(name string, args ...string) *process {
	c.t.Helper()
	return (&process{t: c.t, name: name, dir: c.build, args: append([]string{"--nats", c.url, "--listen", "127.0.0.1:0"}, args...)}).begin()
}

// startNodes starts a NATS cluster and waits until it is ready.
func (c *cluster) startNodes(n int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var err error
	if c.nodes, err = natscluster.Start(ctx, filepath.Join(c.dir, "nats"), n, natscluster.Options{Server: filepath.Join(bin, "nats-server")}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(c.nodes.Close)
	if err := c.nodes.WaitReady(ctx); err != nil {
		c.t.Fatal(err)
	}
	c.url = c.nodes.URL()
}

func (c *cluster) out() string { return filepath.Join(c.dir, "out") }

// all returns every process except the broker.
func (c *cluster) all() []*process {
	ps := []*process{c.front}
	ps = append(ps, c.fetch...)
	ps = append(ps, c.parse...)
	return append(ps, c.write...)
}

// bus connects to the cluster as a user does.
func (c *cluster) bus() *stages.Bus {
	c.t.Helper()
	var bus *stages.Bus
	eventually(c.t, 20*time.Second, "connect to NATS", func() (bool, string) {
		b, err := stages.Dial(c.url, "test", slog.New(slog.DiscardHandler))
		if err != nil {
			return false, err.Error()
		}
		bus = b
		return true, ""
	})
	c.t.Cleanup(bus.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := bus.Join(ctx); err != nil {
		c.t.Fatal(err)
	}
	return bus
}

// begin stores a spec and publishes seeds, as `nats pub` does.
func (c *cluster) begin(bus *stages.Bus, crawl string, spec *crawlspec.Spec, seeds ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := specs.Put(ctx, crawl, spec); err != nil {
		c.t.Fatal(err)
	}
	m := &nats.Msg{Subject: messages.SubjectSeeds(crawl), Data: []byte(strings.Join(seeds, "\n"))}
	if err := stages.NewPublisher(bus, "test").Publish(ctx, m); err != nil {
		c.t.Fatal(err)
	}
}

// complete waits until the frontier reports that the crawl is complete, and returns its counters.
func (c *cluster) complete(bus *stages.Bus, crawl string, within time.Duration) frontierapi.Counters {
	c.t.Helper()
	client := frontierapi.Client{Bus: bus}
	var last frontierapi.Counters
	eventually(c.t, within, "complete the crawl", func() (bool, string) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		end, n, err := client.CheckEnded(ctx, crawl, new(crawlspec.Spec))
		if err != nil {
			return false, err.Error()
		}
		last = n.Counters
		return end == frontierapi.Complete, fmt.Sprintf("%+v", n)
	}, c.all()...)
	return last
}

// finish waits until the crawl is complete, drains all stages in the order of the pipeline, and
// returns the crawl's counters.
func (c *cluster) finish(bus *stages.Bus, crawl string, within time.Duration) frontierapi.Counters {
	c.t.Helper()
	last := c.complete(bus, crawl, within)
	early := append([]*process{c.front}, append(c.fetch, c.parse...)...)
	for _, p := range early {
		p.drain()
	}
	eventually(c.t, within, "commit every record", func() (bool, string) {
		var n int64
		commits, err := readCommits(c.out(), "default")
		for _, commit := range commits {
			for _, f := range commit.Files {
				if f.Crawl == crawl {
					n += int64(f.Records)
				}
			}
		}
		return err == nil && n >= last.Pages, fmt.Sprintf("%d of %d records, %v", n, last.Pages, err)
	}, c.write...)
	for _, p := range c.write {
		p.drain()
	}
	return last
}

// eventually polls until done. On a timeout it fails with the last state that it saw.
func eventually(t *testing.T, within time.Duration, what string, poll func() (done bool, saw string), running ...*process) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		done, saw := poll()
		if done {
			return
		}
		for _, p := range running {
			select {
			case <-p.gone:
				t.Fatalf("%s: %s has ended: %v", what, p.name, p.err)
			default:
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s; last seen: %s", what, within, saw)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// address returns the address where a stage serves metrics and health, from the last log line with
// one, or "".
func (p *process) address() string {
	const said = "address=http://"
	log := p.log.String()
	i := strings.LastIndex(log, said)
	if i < 0 {
		return ""
	}
	addr, _, _ := strings.Cut(log[i+len(said):], "\n")
	return strings.TrimSpace(addr)
}

// metrics reads the metrics of a stage.
func (p *process) metrics() string {
	p.t.Helper()
	if addr := p.address(); addr != "" {
		return metricsAt(addr)
	}
	return ""
}

// metricsAt reads the metrics at an address, "" if there are none.
func metricsAt(addr string) string {
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// rss returns the resident memory of the process in bytes.
func (p *process) rss() int64 {
	p.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var size, resident int64
	_, _ = fmt.Sscan(string(b), &size, &resident)
	return resident * int64(os.Getpagesize())
}
