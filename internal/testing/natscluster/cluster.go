package natscluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"seine/internal/testing/faultproxy"
)

// Options configure a cluster.
type Options struct {
	// Server is the nats-server program; the result of the function Server if empty.
	Server string
	// Ping is the interval at which nodes ping their clients and each other; two unanswered pings
	// end a connection. It is 1 s if 0, so that a cut is noticed soon.
	Ping time.Duration
	// MaxStore limits the storage of each node in bytes; 64 GiB if 0.
	MaxStore int64
	// Config is added to the configuration of each node: users, TLS for clients.
	Config string
}

// Cluster is a set of nodes that know each other.
type Cluster struct{ nodes []*Node }

// Server returns the path of a nats-server program: from the PATH, or the tool of the current
// module.
func Server(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path, nil
	}
	tool := exec.CommandContext(ctx, "go", "tool", "-n", "nats-server")
	tool.Env = append(os.Environ(), "CGO_ENABLED=0") // like all commands; a race-detector test has cgo enabled and would build it again
	out, err := tool.Output()
	if err != nil {
		return "", fmt.Errorf("no nats-server in the PATH, and none by `go tool nats-server`: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Start starts n nodes that keep their data below dir. The nodes may not have found each other when
// it returns: see WaitReady.
func Start(ctx context.Context, dir string, n int, o Options) (*Cluster, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d nodes: a cluster has at least one", n)
	}
	if o.Server == "" {
		server, err := Server(ctx)
		if err != nil {
			return nil, err
		}
		o.Server = server
	}
	if o.Ping == 0 {
		o.Ping = time.Second
	}
	if o.MaxStore == 0 {
		o.MaxStore = 64 << 30
	}
	c := new(Cluster)
	for i := range n {
		name := fmt.Sprint("n", i+1)
		c.nodes = append(c.nodes, &Node{name: name, dir: filepath.Join(dir, name), server: o.Server, routes: make(map[string]*faultproxy.Proxy)})
	}
	err := c.connect()
	for _, node := range c.nodes {
		if err == nil {
			err = node.configure(o)
		}
		if err == nil {
			err = node.Start()
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connect creates the links.
func (c *Cluster) connect() (err error) {
	for _, to := range c.nodes {
		if to.clients, err = faultproxy.New(""); err != nil {
			return err
		}
		for _, from := range c.nodes {
			if from == to {
				continue
			}
			l, err := faultproxy.New("")
			if err != nil {
				return err
			}
			from.routes[to.name] = l
			to.toThis = append(to.toThis, l)
		}
	}
	return nil
}

const logFile = "nats.log"

// configure writes the server's configuration. Nodes must find each other only through links, so
// the route address that they advertise leads nowhere, and the client address is that of the link.
func (n *Node) configure(o Options) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("make folder of node: %w", err)
	}
	var routes []string
	for _, l := range n.routes {
		routes = append(routes, fmt.Sprintf("%q", "nats-route://"+l.Addr()))
	}
	cluster := ""
	if len(routes) > 0 { // JetStream refuses to start as a cluster of one
		cluster = fmt.Sprintf(`cluster { name: "seine", listen: "127.0.0.1:-1", advertise: "127.0.0.1:1", routes: [%s] }`, strings.Join(routes, ", "))
	}
	text := fmt.Sprintf(`server_name: %s
listen: "127.0.0.1:-1"
client_advertise: %q
http: "127.0.0.1:-1"
ports_file_dir: %q
log_file: %q
ping_interval: %q
ping_max: 2
jetstream { store_dir: %q, max_file_store: %d, max_memory_store: %d }
%s
%s
`, n.name, n.clients.Addr(), n.dir, filepath.Join(n.dir, logFile), o.Ping,
		filepath.Join(n.dir, "store"), o.MaxStore, 256<<20, cluster, o.Config)
	if err := os.WriteFile(filepath.Join(n.dir, "nats.conf"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write configuration of node: %w", err)
	}
	return nil
}

// Nodes returns all nodes, running or not.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// Node returns the node with a name, or nil.
func (c *Cluster) Node(name string) *Node {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// URL returns the client URLs of all nodes, separated by commas.
func (c *Cluster) URL() string {
	urls := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		urls[i] = n.URL()
	}
	return strings.Join(urls, ",")
}

// MetaLeader returns the meta leader, which places streams and consumers, as seen by a reachable
// node. It returns nil if no leader is known.
func (c *Cluster) MetaLeader(ctx context.Context) *Node {
	for _, n := range c.nodes {
		var js struct {
			Meta struct {
				Leader string `json:"leader"`
			} `json:"meta_cluster"`
		}
		if _, ok := n.up(); !ok || n.get(ctx, "/jsz", &js) != nil {
			continue
		}
		if leader := c.Node(js.Meta.Leader); leader != nil {
			return leader
		}
	}
	return nil
}

// WaitReady waits until every node that runs and is not cut off is healthy, with all its streams
// and consumers in sync, or until ctx is done.
func (c *Cluster) WaitReady(ctx context.Context) error {
	for {
		err := c.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster is not ready: %w", errors.Join(err, context.Cause(ctx)))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *Cluster) ready(ctx context.Context) error {
	for _, n := range c.nodes {
		if _, ok := n.up(); !ok {
			continue
		}
		var health struct {
			Status string `json:"status"`
			Error  string `json:"error"`
		}
		if err := n.get(ctx, "/healthz", &health); err != nil {
			return err
		}
		if health.Status != "ok" {
			return fmt.Errorf("node %s: %s", n.name, health.Error)
		}
	}
	return nil
}

// Close kills all nodes. Their data is kept.
func (c *Cluster) Close() {
	for _, n := range c.nodes {
		n.Kill()
	}
	for _, n := range c.nodes {
		for _, l := range append(n.toThis, n.clients) {
			if l != nil {
				l.Close()
			}
		}
	}
}
