package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"

	"seine/deploy/helm/check"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/testweb"
)

// chart is a copy of a folder of the chart with its dependency in it: the official NATS chart that SEINE_NATS_CHART names,
// or one without objects.
func (c *cluster) chart(t *testing.T, folder string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "seine")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	nats := filepath.Join(dir, "charts", "nats")
	if official := os.Getenv("SEINE_NATS_CHART"); official != "" {
		if err := os.CopyFS(nats, os.DirFS(official)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if err := os.MkdirAll(nats, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(nats, "Chart.yaml"), []byte("apiVersion: v2\nname: nats\nversion: 2.14.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// installation is the chart in a cluster with controllers, two nodes and a broker, and a site to crawl.
type installation struct {
	*cluster
	t      *testing.T
	chart  string
	nodes  []*node
	broker *natstest.Broker
	web    *testweb.Web
	site   string
	values string // with which it is installed
}

// site is crawled slowly, for as long as a test wants it, and then fast.
var site = testweb.Config{PagesPerHost: 2500, PageBytes: 4 << 10, Latency: 20 * time.Millisecond, ErrorRate: 0.02, RedirectRate: 0.03, MissingRate: 0.02}

// pace has the site crawled with a delay between requests.
func (i *installation) pace(delay string) {
	i.t.Helper()
	i.seine("delay: "+delay+"\nper_host: 8\nallow_private: true\n", "spec", "apply", "--crawl", "news", "-")
}

// finish has the crawl go on fast until it is complete.
func (i *installation) finish() {
	i.t.Helper()
	i.pace("0s")
	await.Eventually(i.t, "the crawl is complete", i.complete)
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{cluster: newCluster(t), t: t}
	if err := check.Binaries(binaries); err != nil {
		t.Fatal(err)
	}
	i.chart = i.cluster.chart(t, check.ChartFolder)
	i.startControllers(t)
	i.createNamespace(t, check.Namespace)
	i.quota(t, check.Namespace)
	i.provision(t)
	i.broker = natstest.NewBroker(t)
	i.nodes = []*node{i.startNode(t, "one"), i.startNode(t, "two")}
	i.web = testweb.New(site)
	i.site = "http://" + testweb.Run(t, i.web).Addr()
	i.install(i.broker.URL())
	return i
}

// install installs the chart with values, whose pods reach the broker at an URL.
func (i *installation) install(broker string, values ...string) {
	i.t.Helper()
	i.values = strings.Join(append(values, "nats.enabled=false,natsServer.url="+broker,
		"fetcher.replicas=2,parser.replicas=2,frontier.replicas=2,writer.options.chunk-age=2s"), ",")
	i.release("install", "--set", i.values, "--wait", "--timeout", "4m")
}

// release runs a command of Helm for the release.
func (i *installation) release(command string, args ...string) {
	i.t.Helper()
	i.helm(i.t, append([]string{command, check.Release, i.chart, "-n", check.Namespace}, args...)...)
}

// upgrade changes values and waits until the pods are those of the new ones.
func (i *installation) upgrade(values ...string) {
	i.t.Helper()
	i.release("upgrade", "--reset-then-reuse-values", "--set", strings.Join(values, ","), "--wait", "--timeout", "4m")
}

// seine runs the command seine of this machine on the broker.
func (i *installation) seine(stdin string, args ...string) string {
	i.t.Helper()
	cmd := exec.Command(filepath.Join(binaries, "seine"), args...)
	cmd.Env = append(os.Environ(), "SEINE_NATS_URL="+i.broker.URL())
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		i.t.Fatalf("seine %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// pages waits until the site was asked so many times, and fails when the crawl was over before.
func (i *installation) pages(n int) {
	i.t.Helper()
	await.Eventually(i.t, "the crawl goes on", func() bool { return len(i.web.Requests()) >= n })
	if i.complete() {
		i.t.Fatal("the crawl is over already: the site is too small for this test")
	}
}

func (i *installation) complete() bool {
	return strings.Contains(strings.Join(strings.Fields(i.seine("", "status", "--json", "--crawl", "news")), ""), `"end":"complete"`)
}

// ready waits until every workload has the pods that it should.
func (i *installation) ready() {
	i.t.Helper()
	for _, kind := range []string{"statefulset", "deployment"} {
		for name := range strings.FieldsSeq(i.kubectl(i.t, "", "-n", check.Namespace, "get", kind, "-o", "name")) {
			i.kubectl(i.t, "", "-n", check.Namespace, "rollout", "status", name, "--timeout=3m")
		}
	}
}

// out is the output: the claim of the writer.
func (i *installation) out() string { return i.volume("out-seine-writer-0") }

// urls are those of the records, sorted.
func (i *installation) urls() (urls []string) {
	for line := range strings.Lines(i.seine("", "cat", i.out())) {
		url, _, _ := strings.Cut(strings.TrimPrefix(line, `{"url":"`), `"`)
		urls = append(urls, strings.ReplaceAll(url, `\u0026`, "&"))
	}
	slices.Sort(urls)
	return urls
}

// The chart, from its installation to its end: a crawl goes through crashes of processes, pods that are deleted, a node that
// is drained, and an upgrade, the frontier first; every page has one record. What the README says that survives an
// uninstall does, and an installation goes on from there.
func TestReleaseFromInstallToUninstall(t *testing.T) {
	i := newInstallation(t)
	i.helm(t, "test", check.Release, "-n", check.Namespace, "--timeout", "2m")
	i.pace("100ms")
	i.seine("", "seed", "--crawl", "news", i.site+"/")

	i.pages(50)
	i.crash()
	i.pages(150)
	i.deletePods()
	i.pages(250)
	i.drain()
	i.pages(350)
	i.upgradeFrontierFirst()
	i.finish()
	i.checkOutput()
	i.checkUninstall()
}

// crash kills the process of each stage on both nodes; they come back.
func (i *installation) crash() {
	i.t.Helper()
	for _, component := range stages {
		if i.nodes[0].kill(component)+i.nodes[1].kill(component) == 0 {
			i.t.Errorf("no %s was there to be killed", component)
		}
	}
	await.Eventually(i.t, "seven processes run", func() bool { return len(i.nodes[0].running())+len(i.nodes[1].running()) == 7 })
	i.ready()
}

// deletePods deletes pods with a volume of their own and all parsers; others come in their place.
func (i *installation) deletePods() {
	i.t.Helper()
	i.kubectl(i.t, "", "-n", check.Namespace, "delete", "pod", "seine-frontier-0", "seine-writer-0", "--wait=false")
	i.kubectl(i.t, "", "-n", check.Namespace, "delete", "pod", "-l", "app.kubernetes.io/component=parser", "--wait=false")
	i.ready()
}

// upgradeFrontierFirst upgrades to another version as the README of the chart says.
func (i *installation) upgradeFrontierFirst() {
	i.t.Helper()
	i.upgrade("frontier.imageTag=0.2.0")
	i.upgrade("frontier.imageTag=", "image.tag=0.2.0")
}

// drain takes all pods of a node to the other one, by evictions, which the budgets let pass.
func (i *installation) drain() {
	i.t.Helper()
	from, to := i.nodes[0], i.nodes[1]
	if len(from.running()) < len(to.running()) {
		from, to = to, from
	}
	i.t.Logf("drain of %s: %v", from.name, from.running())
	_, said, err := i.command(i.t, "kubectl", "", "drain", from.name, "--timeout=3m")
	if err != nil {
		i.t.Fatal(err)
	}
	i.ready()
	if len(from.running()) > 0 || len(to.running()) != 7 {
		i.t.Errorf("after the drain %s has %v, %s has %v: %s", from.name, from.running(), to.name, to.running(), said)
	}
	i.kubectl(i.t, "", "uncordon", from.name)
}

// checkOutput compares the records with the site, and sees that no pod had to be killed.
func (i *installation) checkOutput() {
	i.t.Helper()
	var want []string
	for _, path := range i.web.Pages(0) {
		want = append(want, i.site+path)
	}
	slices.Sort(want)
	await.Eventually(i.t, "all records are written", func() bool { return len(i.urls()) >= len(want) })
	if have := i.urls(); !slices.Equal(have, want) {
		i.t.Errorf("%d records, %d of them once, of %d pages", len(have), len(slices.Compact(slices.Clone(have))), len(want))
	}
	i.seine("", "verify", i.out())
	for _, n := range i.nodes {
		if len(n.killed) > 0 {
			i.t.Errorf("on %s these did not drain within their grace period: %v", n.name, n.killed)
		}
	}
	i.t.Logf("%d requests for %d pages", len(i.web.Requests()), len(want))
}

// checkUninstall removes the release, of which the claims stay, and installs it again.
func (i *installation) checkUninstall() {
	i.t.Helper()
	const all = "all,pvc,pdb,networkpolicy,ingress,configmap,secret,serviceaccount,hpa"
	claims := []string{"out-seine-writer-0", "state-seine-frontier-0", "state-seine-frontier-1", "state-seine-writer-0"}
	i.helm(i.t, "uninstall", check.Release, "-n", check.Namespace, "--wait", "--timeout", "3m")
	var left []string
	await.Eventually(i.t, "the pods are gone", func() bool {
		left = strings.Fields(i.kubectl(i.t, "", "-n", check.Namespace, "get", all, "-o", "name"))
		return !slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "pod/") })
	})
	want := []string{"configmap/kube-root-ca.crt", "serviceaccount/default"}
	for _, claim := range claims {
		want = append(want, "persistentvolumeclaim/"+claim)
	}
	slices.Sort(left)
	if slices.Sort(want); !slices.Equal(left, want) {
		i.t.Errorf("an uninstall leaves %v, want %v", left, want)
	}
	before := len(i.urls())
	i.release("install", "--set", i.values, "--wait", "--timeout", "4m")
	if !i.complete() || len(i.urls()) != before {
		i.t.Errorf("installed again it has %d records, before it were %d", len(i.urls()), before)
	}
}

// deployment is a Deployment of the release.
func (c *cluster) deployment(t *testing.T, name string) (d apps.Deployment) {
	t.Helper()
	if err := c.get("/apis/apps/v1/namespaces/"+check.Namespace+"/deployments/"+name, &d); err != nil {
		t.Fatal(err)
	}
	return d
}
