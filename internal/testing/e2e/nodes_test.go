package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"seine/internal/testing/natscluster"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// leaderOf returns the node that leads a stream, or nil.
func (f *fleet) leaderOf(stream string) *natscluster.Node {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s, err := f.bus.JS.Stream(ctx, stream)
	if err != nil {
		return nil
	}
	return f.nodes.Node(s.CachedInfo().Cluster.Leader)
}

// recovered waits until every node is in sync with all streams.
func (f *fleet) recovered() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := f.nodes.WaitReady(ctx); err != nil {
		f.t.Fatal(err)
	}
}

// A cluster of three NATS nodes has three replicas of everything. During the crawl each node is
// lost once: the leader of the stream that all write to is killed, the meta leader is cut off, and
// the third is killed and restarts at once. The crawl continues, no page is lost or repeated, and
// no host notices.
func TestCrawlGoesOnWithoutAnyOneNode(t *testing.T) {
	t.Parallel() // it waits for elections most of the time
	const hosts, delay = 32, 300 * time.Millisecond
	web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 120, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	f := newFleet(t, 2, shape{nodes: 3, fetchers: 2, frontierArgs: []string{"--partitions", "4", "--replicas", "3"}})
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate = crawlspec.Duration(delay), true
	f.cluster.begin(f.bus, "many", &spec, seedsOf(web.server, hosts)...)
	served := func(what string, n int) {
		t.Helper()
		before, began := len(web.Requests()), time.Now()
		eventually(t, time.Minute, "fetch pages", func() (bool, string) {
			return len(web.Requests()) >= before+n, fmt.Sprint(len(web.Requests()))
		}, f.living()...)
		t.Logf("%s %s: %d requests took %s", f.at(began), what, n, time.Since(began).Round(time.Millisecond))
	}
	served("all nodes", 2*hosts)
	left := make(map[*natscluster.Node]bool)
	for _, n := range f.nodes.Nodes() {
		left[n] = true
	}
	lose := func(what string, pick func() *natscluster.Node, begin func(*natscluster.Node), end func(*natscluster.Node)) {
		t.Helper()
		var n *natscluster.Node
		eventually(t, time.Minute, "find the node", func() (bool, string) { n = pick(); return n != nil, "no leader" })
		for other := range left { // each node once
			if !left[n] {
				n = other
			}
		}
		delete(left, n)
		begin(n)
		served(what+" "+n.Name(), 3*hosts)
		end(n)
		f.recovered()
		served("all nodes again", hosts)
	}
	start := func(n *natscluster.Node) {
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	lose("killed, which led URLS:", func() *natscluster.Node { return f.leaderOf(messages.StreamURLs) }, (*natscluster.Node).Kill, start)
	lose("cut off, which led the cluster:", func() *natscluster.Node { return f.nodes.MetaLeader(t.Context()) },
		(*natscluster.Node).Cut, (*natscluster.Node).Heal)
	lose("killed and started:", func() *natscluster.Node { return f.leaderOf(messages.StreamFetch) },
		func(n *natscluster.Node) { n.Kill(); start(n) }, func(*natscluster.Node) {})
	if n := len(web.Requests()); n > len(web.pages)*19/20 {
		t.Errorf("%d requests were made for %d pages before the last trouble: the web is too small for this test", n, len(web.pages))
	}
	n := f.end("many", &spec, frontierapi.Complete)
	wantPages(t, records(t, f.out(), "many"), web.pages)
	if n.Pages != int64(len(web.pages)) || n.Pending() != 0 {
		t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(web.pages), n)
	}
	f.checkGaps(web, delay)
	repeated, which := web.repeats()
	t.Logf("%d requests, %d pages, %d fetched again: %v", len(web.Requests()), len(web.pages), repeated, which[:min(5, len(which))])
}
