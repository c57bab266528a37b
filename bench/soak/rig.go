package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"seine/bench/contract"
	"seine/bench/proc"
	"seine/bench/supervise"
	"seine/internal/output/bucket"
	"seine/internal/testing/faultproxy"
	"seine/internal/testing/s3server"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

const (
	brokers = 3
	slots   = 3 // of each stage: how far it is scaled up

	partitions = 6

	roleBroker = "broker"
	roleS3     = "s3"

	// Names of the writers into the directory, and of that of archives. That into
	// S3 is called roleS3.
	defaultWriter = "default"
	archiveWriter = "archive"
)

// rolesOf are the stages, in the order of the pipeline.
func rolesOf(o options) []string {
	if o.Renderers > 0 {
		return []string{messages.StageFrontier, messages.StageFetcher, messages.StageRenderer, messages.StageParser, messages.StageWriter}
	}
	return []string{messages.StageFrontier, messages.StageFetcher, messages.StageParser, messages.StageWriter}
}

// testbed is everything that is under test: brokers, stages, an S3 server, and what is between them.
type testbed struct {
	dir, bin string
	roles    []string // of the stages that run
	clocks   bool
	tell     *contract.Tally
	stop     chan struct{}

	processes []*supervise.Process
	wires     map[string][]*faultproxy.Proxy // of a stage to each broker; of "s3"
	links     [][]*faultproxy.Proxy          // from a broker to another
	disks     map[string]*disk               // by process; "out" for all writers into the directory
	direct    []string                       // the brokers' own addresses, for what checks
	counts    map[string]int                 // how many of a stage run by default
	browsers  string                         // folder of their profiles; "" if there are none
	chained   int                            // how many fetchers parse their pages
	outputs   map[string]contract.Output     // by writer name
	running   sync.WaitGroup                 // supervisors
	now       contract.Now
	storm     storm

	// cluster is held by who needs it as it is: who begins a crawl, asks for it or checks it, and who
	// restores a backup.
	cluster sync.Mutex
	bus     *stages.Bus
	open    *contract.Crawl // that which was fed, and is not complete; nil for none
}

// Sizes of the small disks.
const (
	brokerDisk   = 1 << 30
	frontierDisk = 256 << 20
	outDisk      = 1 << 30
	indexDisk    = 256 << 20
)

// newTestbed makes everything, and starts nothing.
func newTestbed(o options, dir string, tell *contract.Tally) (*testbed, error) {
	r := &testbed{
		dir: dir, bin: filepath.Join(dir, "bin"), roles: rolesOf(o), clocks: o.Clocks, tell: tell, stop: make(chan struct{}),
		wires: make(map[string][]*faultproxy.Proxy), disks: make(map[string]*disk), outputs: make(map[string]contract.Output),
		counts: map[string]int{
			messages.StageFrontier: o.Frontiers, messages.StageFetcher: o.Fetchers,
			messages.StageRenderer: o.Renderers, messages.StageParser: o.Parsers, messages.StageWriter: o.Writers,
		},
		chained: o.Chained,
	}
	for _, make := range []func() error{r.makeBrokers, r.makeDisks, r.makeS3, r.makeBrowserFolder, r.makeStages} {
		if err := make(); err != nil {
			r.teardown(false)
			return nil, err
		}
	}
	return r, nil
}

// add makes a process that has a log and a clock.
func (r *testbed) add(name, role, command string, env []string, args ...string) *supervise.Process {
	p := &supervise.Process{
		Name: name, Role: role, Path: filepath.Join(r.bin, command), Args: args, Env: env,
		Log: filepath.Join(r.dir, "logs", name+".log"), Tell: r.tell,
	}
	if r.clocks && role != roleS3 {
		p.Env = append(p.Env, clockVariable+"="+filepath.Join(r.dir, "clocks", name))
	}
	r.processes = append(r.processes, p)
	return p
}

func (r *testbed) disk(name, dir string, size int64) (string, error) {
	d, err := newDisk(filepath.Join(r.dir, dir), size)
	if err != nil {
		return "", err
	}
	r.disks[name] = d
	return d.dir, nil
}

// makeBrokers makes a cluster in which every broker knows the others by a proxy alone.
func (r *testbed) makeBrokers() error {
	for _, folder := range []string{"logs", "clocks", "conf"} {
		if err := os.MkdirAll(filepath.Join(r.dir, folder), 0o750); err != nil {
			return err
		}
	}
	ports, err := lowPorts(2 * brokers)
	if err != nil {
		return err
	}
	clients, routes := ports[:brokers], ports[brokers:]
	for i := range brokers {
		r.direct = append(r.direct, "127.0.0.1:"+clients[i])
		r.links = append(r.links, make([]*faultproxy.Proxy, brokers))
		var others []string
		for j := range brokers {
			if i == j {
				continue
			}
			w, err := faultproxy.New("127.0.0.1:" + routes[j])
			if err != nil {
				return err
			}
			r.links[i][j] = w
			others = append(others, "nats-route://"+w.Addr())
		}
		name := fmt.Sprint(roleBroker, "-", i+1)
		store, err := r.disk(name, name, brokerDisk)
		if err != nil {
			return err
		}
		conf := filepath.Join(r.dir, "conf", name+".conf")
		if err := os.WriteFile(conf, []byte(brokerConf(name, clients[i], routes[i], store, others)), 0o600); err != nil {
			return err
		}
		r.add(name, roleBroker, proc.NATSServer, nil, "-c", conf)
	}
	return nil
}

// lowPorts finds ports that nobody listens on, below those that the system gives to connections: a server that is started
// again must find its own free.
func lowPorts(n int) (ports []string, err error) {
	for try := 0; len(ports) < n; try++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))) //nolint:gosec // any
		if err != nil {
			if try > 100*n {
				return nil, fmt.Errorf("find a port: %w", err)
			}
			continue
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports, nil
}

// brokerConf is the configuration of a broker. What it advertises leads nowhere, so that the proxies are the only way.
func brokerConf(name, client, route, store string, others []string) string {
	return fmt.Sprintf(`server_name: %s
listen: 127.0.0.1:%s
max_payload: 1MB
jetstream { store_dir: %q, max_file_store: 4GB, max_memory_store: 64MB }
cluster {
  name: soak
  listen: 127.0.0.1:%s
  advertise: "127.0.0.1:1"
  no_advertise: true
  routes: [%s]
}
`, name, client, store, route, strings.Join(others, ", "))
}

func (r *testbed) makeDisks() error {
	for i := range slots {
		name := stageName(messages.StageFrontier, i)
		if _, err := r.disk(name, name, frontierDisk); err != nil {
			return err
		}
		name = stageName(messages.StageWriter, i)
		if _, err := r.disk(name, name, indexDisk); err != nil {
			return err
		}
	}
	out, err := r.disk("out", "out", outDisk)
	r.outputs[defaultWriter] = contract.Output{Out: filepath.Join(out, "data")}
	return err
}

func stageName(role string, i int) string { return fmt.Sprint(role, "-", i+1) }

// makeS3 makes an S3 server, if its program is there, with a proxy in front.
func (r *testbed) makeS3() error {
	program, err := filepath.Abs(filepath.Join("..", ".cache", "bin", "versitygw"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil && os.Getenv("CI") != "" {
		return errors.New("no S3 server: scripts/versitygw builds it")
	} else if err != nil {
		return nil
	}
	ports, err := lowPorts(1)
	if err != nil {
		return err
	}
	data := filepath.Join(r.dir, "s3")
	if err := os.MkdirAll(filepath.Join(data, s3server.Bucket), 0o750); err != nil { // a folder is a bucket
		return err
	}
	p := r.add(roleS3, roleS3, "", []string{"ROOT_ACCESS_KEY_ID=" + s3server.Key, "ROOT_SECRET_ACCESS_KEY=" + s3server.Secret},
		"--port", "127.0.0.1:"+ports[0], "--quiet", "posix", data)
	p.Path = program
	w, err := faultproxy.New("127.0.0.1:" + ports[0])
	if err != nil {
		return err
	}
	r.wires[roleS3] = []*faultproxy.Proxy{w}
	s3server.SetCredentials()
	r.outputs[roleS3] = contract.Output{Out: "s3://" + s3server.Bucket + "/soak", S3: bucket.Options{Endpoint: "http://127.0.0.1:" + ports[0], PathStyle: true}}
	return nil
}

// single are the processes of writers that are not scaled.
var single = []string{"writer-" + roleS3, "writer-" + archiveWriter}

// makeStages makes as many of each stage as there are at most, a writer of archives, and one into S3.
func (r *testbed) makeStages() error {
	const mib = "MiB"
	for i := range slots {
		state := func(role string) string { return filepath.Join(r.dir, stageName(role, i), "state") }
		all := map[string][]string{
			messages.StageFrontier: {
				"--state", state(messages.StageFrontier), "--replicas", fmt.Sprint(brokers), "--partitions", fmt.Sprint(partitions),
				"--snapshot-every", "20s", "--snapshot-bytes", "256" + mib, "--seeds-bytes", "16" + mib, "--urls-bytes", "64" + mib,
				"--results-bytes", "32" + mib, "--pages-bytes", "96" + mib, "--records-bytes", "64" + mib, "--bodies-bytes", "64" + mib,
				"--dead-bytes", "16" + mib,
			},
			messages.StageRenderer: {
				"--browser-dir", r.browsers, "--browser-tabs", "2", "--browser-pages", "60",
			},
			messages.StageParser: nil,
			messages.StageWriter: {
				"--out", r.outputs[defaultWriter].Out, "--state", state(messages.StageWriter), "--chunk-age", "2s",
			},
		}
		if i < r.chained {
			all[messages.StageFetcher] = []string{"--chain"}
		}
		for _, role := range r.roles {
			if err := r.stage(stageName(role, i), role, all[role]...); err != nil {
				return err
			}
		}
	}
	archive := contract.Output{Out: filepath.Join(r.dir, archiveWriter), Archive: true, Rendered: r.renders()}
	r.outputs[archiveWriter] = archive
	if err := r.writer(archiveWriter, archive, "--from", "pages", "--format", "warc.zst"); err != nil {
		return err
	}
	s3, ok := r.outputs[roleS3]
	if !ok {
		return nil
	}
	return r.writer(roleS3, s3, "--s3-endpoint", "http://"+r.wires[roleS3][0].Addr(), "--s3-path-style")
}

// writer makes the only process of a writer.
func (r *testbed) writer(name string, to contract.Output, args ...string) error {
	process := "writer-" + name
	return r.stage(process, messages.StageWriter, append([]string{
		"--name", name, "--out", to.Out, "--state", filepath.Join(r.dir, process), "--chunk-age", "4s",
	}, args...)...)
}

// stage makes a process of a stage with a way of its own to each broker.
func (r *testbed) stage(name, role string, args ...string) error {
	var urls []string
	for i := range brokers {
		w, err := faultproxy.New(r.direct[i])
		if err != nil {
			return err
		}
		r.wires[name] = append(r.wires[name], w)
		urls = append(urls, "nats://"+w.Addr())
	}
	r.add(name, role, role, []string{"SEINE_NATS_URL="}, append([]string{"--nats", strings.Join(urls, ","), "--listen", "off"}, args...)...)
	return nil
}

// start starts everything, as many of each stage as asked for, and joins.
func (r *testbed) start(ctx context.Context) error {
	for _, p := range r.processes {
		if p.Role == roleBroker || p.Role == roleS3 || slices.Contains(single, p.Name) || slices.Contains(r.defaults(p.Role), p.Name) {
			p.Want()
		}
		r.running.Go(func() { p.Supervise(r.stop) })
	}
	return r.join(ctx)
}

// defaults are the processes of a stage that run when it is not scaled.
func (r *testbed) defaults(role string) (names []string) {
	for i := range r.counts[role] {
		names = append(names, stageName(role, i))
	}
	return names
}

// join connects what checks, past all proxies, once the frontier has made the streams.
func (r *testbed) join(ctx context.Context) error {
	bus, err := contract.Join(ctx, "nats://"+strings.Join(r.direct, ",nats://"), "soak")
	if bus != nil {
		r.bus = bus
	}
	return err
}

// find returns a process by name.
func (r *testbed) find(name string) *supervise.Process {
	for _, p := range r.processes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// wanted are the processes of a role that are meant to run, by name.
func (r *testbed) wanted(role string) (names []string) {
	for _, p := range r.processes {
		if p.Role == role && p.IsWanted() {
			names = append(names, p.Name)
		}
	}
	return names
}

// drain ends all stages in the order of the pipeline. Each must end well.
func (r *testbed) drain() {
	for _, role := range r.roles {
		for _, p := range r.processes {
			if p.Role != role || !p.IsWanted() {
				continue
			}
			if code := p.Drain(); code != 0 {
				r.tell.Violation("%s was told to end when all was done, and ended with %d", p.Name, code)
			}
		}
	}
}

// teardown ends everything; what is on the small disks stays, if asked.
func (r *testbed) teardown(keep bool) {
	if r.bus != nil {
		r.bus.NC.Close()
	}
	close(r.stop)
	r.running.Wait()
	for _, p := range r.processes {
		p.Kill()
	}
	if r.browsers != "" {
		_ = os.RemoveAll(r.browsers)
	}
	for _, ws := range r.wires {
		closeAll(ws)
	}
	for _, ws := range r.links {
		closeAll(ws)
	}
	for _, d := range r.disks {
		if err := d.leave(keep); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
		}
	}
}

func closeAll(ws []*faultproxy.Proxy) {
	for _, w := range ws {
		if w != nil {
			w.Close()
		}
	}
}

// canFill reports whether disks can be full here.
func (r *testbed) canFill() bool { return r.disks["out"].mounted }

// brokerOrder are the brokers in the order of links.
func (r *testbed) brokerOrder() (names []string) {
	for _, p := range r.processes {
		if p.Role == roleBroker {
			names = append(names, p.Name)
		}
	}
	return names
}

// uncovered says what could not be broken here.
func (r *testbed) uncovered() (what []string) {
	if !r.canFill() {
		what = append(what, "full disks (needs root)")
	}
	if !r.clocks {
		what = append(what, "clocks (-clocks)")
	}
	if _, ok := r.outputs[roleS3]; !ok {
		what = append(what, "a slow sink (needs scripts/versitygw)")
	}
	if !r.renders() {
		what = append(what, "browsers (-renderers)")
	}
	return append(what, "clocks of other stages that are wrong over a restart, loss of power, more than one machine (make hosts)")
}
