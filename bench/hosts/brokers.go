//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/bench/proc"
)

// makeBrokers makes a cluster of all brokers, or one server.
func (t *testbed) makeBrokers() error {
	for _, m := range t.machines {
		for range m.brokers {
			t.brokers = append(t.brokers, broker{machine: m.name, index: len(t.brokers)})
		}
	}
	for i := range t.brokers {
		b := &t.brokers[i]
		name := fmt.Sprint(roleBroker, "-", i+1)
		conf := filepath.Join(t.dir, name+".conf")
		if err := os.WriteFile(conf, []byte(t.brokerConf(b, name)), 0o600); err != nil {
			return err
		}
		b.Process = t.add(name, roleBroker, b.machine, proc.NATSServer, nil, "-c", conf)
	}
	return nil
}

// brokerConf is the configuration of a broker, as docs/scale.md has it.
func (t *testbed) brokerConf(b *broker, name string) string {
	host := t.hosts[b.machine]
	cluster := ""
	if len(t.brokers) > 1 { // JetStream refuses to start as a cluster of one
		var routes []string
		for _, other := range t.brokers {
			routes = append(routes, "nats-route://"+t.hosts[other.machine].At(routePort+other.index))
		}
		cluster = fmt.Sprintf("cluster { name: seine, listen: %q, routes: [%s] }", host.At(routePort+b.index), strings.Join(routes, ", "))
	}
	return fmt.Sprintf(`server_name: %s
listen: %q
http: %q
jetstream { store_dir: %q, max_file_store: 8GB, max_memory_store: 256MB }
%s
`, name, host.At(clientPort+b.index), host.At(monitorPort+b.index), t.state(b.machine, name), cluster)
}

// healthy reports whether every broker has all that it is to have of every stream and consumer.
func (t *testbed) healthy(ctx context.Context) error {
	for _, b := range t.brokers {
		if _, err := proc.Get(ctx, "http://"+t.hosts[b.machine].At(monitorPort+b.index)+"/healthz"); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	return nil
}
