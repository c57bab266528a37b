package natscluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"seine/internal/base/childproc"
	"seine/internal/base/jsontext"
	"seine/internal/testing/faultproxy"
)

// Node is one server of a cluster. Its methods must not be called concurrently; different nodes are
// independent.
type Node struct {
	name    string
	dir     string
	server  string                       // the program
	clients *faultproxy.Proxy            // to this node
	routes  map[string]*faultproxy.Proxy // from this node to others, by name
	toThis  []*faultproxy.Proxy          // the other nodes' routes to this one

	mu      sync.Mutex // guards the fields below
	cmd     *exec.Cmd  // nil while the node is down
	gone    chan struct{}
	monitor string // address
	cutOff  bool
}

// Name returns the server name, as JetStream reports it for replicas.
func (n *Node) Name() string { return n.name }

// URL returns the client URL of this node.
func (n *Node) URL() string { return "nats://" + n.clients.Addr() }

// PID returns the process id of the node, 0 while it is down.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return 0
	}
	return n.cmd.Process.Pid
}

// up reports whether the node runs and is not cut off.
func (n *Node) up() (monitor string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.monitor, n.cmd != nil && !n.cutOff
}

// startTime bounds the time until a server listens, including the recovery of its streams.
const startTime = time.Minute

// Start starts the server on its existing data. It does nothing if the server runs.
func (n *Node) Start() error {
	if n.PID() != 0 {
		return nil
	}
	for _, old := range n.portFiles() {
		_ = os.Remove(old)
	}
	cmd := exec.Command(n.server, "-c", filepath.Join(n.dir, "nats.conf")) //nolint:gosec // ended by Kill and Stop
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                  // an interrupt is for the process that runs the cluster
	if err := childproc.Start(cmd); err != nil {
		return fmt.Errorf("start nats-server: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	p, err := n.awaitPorts(gone)
	if err != nil {
		_ = cmd.Process.Kill()
		<-gone
		return fmt.Errorf("node %s: %w; its log ends: %s", n.name, err, n.lastWords())
	}
	n.mu.Lock()
	n.cmd, n.gone, n.monitor = cmd, gone, p.Monitoring[0]
	n.mu.Unlock()
	n.clients.SetTarget(address(p.NATS[0]))
	for _, l := range n.toThis {
		l.SetTarget(address(p.Cluster[0]))
	}
	return nil
}

// Kill kills the server, like a crash.
func (n *Node) Kill() { n.end(syscall.SIGKILL) }

// Stop shuts the server down in order: it hands over its leaderships.
func (n *Node) Stop() { n.end(syscall.SIGTERM) }

func (n *Node) end(s os.Signal) {
	n.mu.Lock()
	cmd, gone := n.cmd, n.gone
	n.cmd = nil
	n.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(s)
	<-gone
	n.clients.SetTarget("")
	for _, l := range n.toThis {
		l.SetTarget("")
	}
}

// Cut silently cuts the node off from the other nodes and from all clients.
func (n *Node) Cut() {
	n.setCutOff(true)
	for _, l := range n.links() {
		l.Blackhole()
	}
}

// Heal ends Cut. Data sent meanwhile arrives now, if its connection is still open.
func (n *Node) Heal() {
	for _, l := range n.links() {
		l.Restore()
	}
	n.setCutOff(false)
}

// Delay adds a latency to all traffic of the node, in each direction; 0 ends it.
func (n *Node) Delay(d time.Duration) {
	for _, l := range n.links() {
		l.Delay(d)
	}
}

func (n *Node) setCutOff(is bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutOff = is
}

func (n *Node) links() []*faultproxy.Proxy {
	ls := append([]*faultproxy.Proxy{n.clients}, n.toThis...)
	for _, l := range n.routes {
		ls = append(ls, l)
	}
	return ls
}

// get queries the server's monitoring port, which is not behind a link.
func (n *Node) get(ctx context.Context, path string, into any) error {
	monitor, _ := n.up()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, monitor+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", n.name, path, err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", n.name, path, err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = jsontext.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", n.name, path, err)
	}
	return nil
}

// Log returns the log of the server, of all its runs.
func (n *Node) Log() string {
	text, _ := os.ReadFile(filepath.Join(n.dir, logFile))
	return string(text)
}

func (n *Node) lastWords() string {
	text := n.Log()
	return strings.TrimSpace(text[max(0, len(text)-1500):])
}

// ports are the addresses that a server chose and wrote to its ports file.
type ports struct {
	NATS       []string `json:"nats"`
	Cluster    []string `json:"cluster"`
	Monitoring []string `json:"monitoring"`
}

func (n *Node) portFiles() []string {
	files, _ := filepath.Glob(filepath.Join(n.dir, "*.ports")) // the pattern is well-formed
	return files
}

// awaitPorts waits until a started server listens, and returns its addresses.
func (n *Node) awaitPorts(gone <-chan struct{}) (p ports, err error) {
	end := time.After(startTime)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		for _, file := range n.portFiles() {
			text, _ := os.ReadFile(file) //nolint:gosec // written by the server
			// The file may be half written.
			if jsontext.Unmarshal(text, &p) == nil && len(p.NATS) > 0 && len(p.Monitoring) > 0 && len(p.Cluster) == min(1, len(n.routes)) {
				return p, nil
			}
		}
		select {
		case <-gone:
			return p, fmt.Errorf("nats-server has ended")
		case <-end:
			return p, fmt.Errorf("nats-server does not listen after %s", startTime)
		case <-look.C:
		}
	}
}

// address returns the host and port of a URL.
func address(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		return ""
	}
	return u.Host
}
