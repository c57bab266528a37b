//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"seine/bench/contract"
	"seine/bench/netns"
	"seine/bench/supervise"
	"seine/internal/output/bucket"
	"seine/internal/testing/s3server"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

const (
	partitions = 8
	writerName = "default"

	roleBroker = "broker"
	roleS3     = "s3"
	s3Server   = "versitygw"
)

// Ports. That of a broker is the first for the first of them, the next one for the second.
const (
	clientPort  = 4222
	routePort   = 6222
	monitorPort = 8222
	s3Port      = 7070
	webPort     = 8080
	namesPort   = 53
)

// broker is a NATS server.
type broker struct {
	*supervise.Process
	machine string
	index   int
}

// testbed is everything that runs, and the network in which it does.
type testbed struct {
	layout
	dir, bin string
	tell     *contract.Tally
	stop     chan struct{}

	network   *netns.Network
	hosts     map[string]*netns.Host
	names     *nameServer
	processes []*supervise.Process
	on        map[string][]*supervise.Process // by machine
	brokers   []broker
	outputs   map[string]contract.Output
	bus       *stages.Bus
	running   sync.WaitGroup // supervisors
}

// newTestbed makes everything, in folder dir and with the commands of folder bin, and starts nothing.
func newTestbed(l layout, dir, bin string, seed uint64, tell *contract.Tally) (*testbed, error) {
	t := &testbed{
		layout: l, dir: dir, bin: bin, tell: tell, stop: make(chan struct{}), network: netns.NewNetwork(seed),
		hosts: make(map[string]*netns.Host), on: make(map[string][]*supervise.Process),
	}
	for _, make := range []func() error{t.makeHosts, t.makeBrokers, t.makeS3, t.makeStages} {
		if err := make(); err != nil {
			t.teardown()
			return nil, err
		}
	}
	return t, nil
}

func (t *testbed) makeHosts() (err error) {
	if err := os.MkdirAll(filepath.Join(t.dir, "logs"), 0o750); err != nil {
		return err
	}
	if t.hosts[observer], err = t.network.AddSelf(observer); err != nil {
		return err
	}
	names := []string{t.web, t.s3}
	for _, m := range t.machines {
		names = append(names, m.name)
	}
	for _, name := range names {
		if t.hosts[name] != nil {
			continue
		}
		if t.hosts[name], err = t.network.Add(name); err != nil {
			return err
		}
	}
	t.names, err = serveNames(t.hosts[t.web], namesPort)
	return err
}

// add makes a process of a machine.
func (t *testbed) add(name, role, machine, command string, env []string, args ...string) *supervise.Process {
	p := &supervise.Process{
		Name: name, Role: role, Path: filepath.Join(t.bin, command), Args: args, Env: env,
		Log: filepath.Join(t.dir, "logs", name+".log"), Tell: t.tell, Prepare: t.hosts[machine].Prepare,
	}
	t.processes = append(t.processes, p)
	t.on[machine] = append(t.on[machine], p)
	return p
}

// disk is the folder of a machine, with all that its processes keep.
func (t *testbed) disk(machine string) string { return filepath.Join(t.dir, "disk-"+machine) }

// state is the folder of a process on the disk of its machine.
func (t *testbed) state(machine, name string) string { return filepath.Join(t.disk(machine), name) }

func (t *testbed) makeS3() error {
	data := t.state(t.s3, roleS3)
	if err := os.MkdirAll(filepath.Join(data, s3server.Bucket), 0o750); err != nil { // a folder is a bucket
		return err
	}
	at := t.hosts[t.s3].At(s3Port)
	t.add(roleS3, roleS3, t.s3, s3Server, []string{"ROOT_ACCESS_KEY_ID=" + s3server.Key, "ROOT_SECRET_ACCESS_KEY=" + s3server.Secret},
		"--port", at, "--quiet", "posix", data)
	t.outputs = map[string]contract.Output{writerName: {
		Out: "s3://" + s3server.Bucket + "/out", S3: bucket.Options{Endpoint: "http://" + at, PathStyle: true},
	}}
	return nil
}

func (t *testbed) makeStages() error {
	count := make(map[string]int)
	for _, m := range t.machines {
		for _, stage := range m.stages {
			count[stage]++
			name := fmt.Sprint(stage, "-", count[stage])
			args := append([]string{"--nats", t.natsURL(), "--listen", "off"}, t.stageArgs(stage, m.name, name)...)
			t.add(name, stage, m.name, stage, []string{"SEINE_NATS_URL="}, args...)
		}
	}
	return nil
}

func (t *testbed) stageArgs(stage, machine, name string) []string {
	switch stage {
	case messages.StageFrontier:
		return []string{
			"--state", t.state(machine, name), "--replicas", fmt.Sprint(t.replicas), "--partitions", fmt.Sprint(partitions),
			"--snapshot-every", "20s", "--snapshot-bytes", "256MiB", "--seeds-bytes", "16MiB", "--urls-bytes", "64MiB",
			"--results-bytes", "64MiB", "--pages-bytes", "256MiB", "--records-bytes", "128MiB", "--bodies-bytes", "64MiB",
			"--dead-bytes", "16MiB",
		}
	case messages.StageFetcher:
		return []string{"--resolver", t.hosts[t.web].At(namesPort)}
	case messages.StageWriter:
		out := t.outputs[writerName]
		return []string{
			"--out", out.Out, "--s3-endpoint", out.S3.Endpoint, "--s3-path-style", "--state", t.state(machine, name), "--chunk-age", "4s",
		}
	}
	return nil
}

// start starts everything, and joins.
func (t *testbed) start(ctx context.Context) error {
	for _, p := range t.processes {
		p.Want()
		t.running.Go(func() { p.Supervise(t.stop) })
	}
	var err error
	t.bus, err = contract.Join(ctx, t.natsURL(), "hosts")
	return err
}

// natsURL has the addresses of all brokers.
func (t *testbed) natsURL() string {
	urls := make([]string, len(t.brokers))
	for i, b := range t.brokers {
		urls[i] = "nats://" + t.hosts[b.machine].At(clientPort+b.index)
	}
	return strings.Join(urls, ",")
}

// drain ends all stages in the order of the pipeline. Each must end well.
func (t *testbed) drain() {
	for _, role := range commands {
		for _, p := range t.processes {
			if p.Role != role {
				continue
			}
			if code := p.Drain(); code != 0 {
				t.tell.Violation("%s was told to end when all was done, and ended with %d", p.Name, code)
			}
		}
	}
}

// teardown ends everything.
func (t *testbed) teardown() {
	if t.bus != nil {
		t.bus.NC.Close()
	}
	close(t.stop)
	t.running.Wait()
	for _, p := range slices.Backward(t.processes) {
		p.Kill()
	}
	if t.names != nil {
		t.names.close()
	}
	t.network.Close()
}
