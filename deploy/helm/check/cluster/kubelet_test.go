package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	core "k8s.io/api/core/v1"

	"seine/deploy/helm/check"
	"seine/internal/testing/await"
	"seine/internal/testing/freeport"
	"seine/internal/testing/natstest"
	"seine/internal/testing/testweb"
)

// nodeAddress is the address of the machine where scripts/kubelet-test runs these tests, in a network of its own, and
// gateway is what its pods call it.
const nodeAddress, gateway = "192.0.2.10", "10.88.77.1"

const containerdConfig = `
version = 2
root = "@DIR/root"
state = "@DIR/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "@DIR/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/seine/pause:test"
  restrict_oom_score_adj = true # where the machine does not let it lower the score
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "@CNI"
    conf_dir = "@DIR/cni"
`

const podNetwork = `{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "@DIR/addresses", "ranges": [[{"subnet": "10.88.77.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}`

const kubeletConfig = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix://@DIR/containerd.sock
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "@CA"}}
authorization: {mode: Webhook}
tlsCertFile: "@CERT"
tlsPrivateKeyFile: "@KEY"
port: @PORT
healthzPort: 0
makeIPTablesUtilChains: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
`

// stages are those that are installed.
var stages = []string{"frontier", "fetcher", "parser", "writer"}

// machine is a node with a kubelet and containerd.
type machine struct {
	*cluster
	dir string
}

// startMachine starts containerd and a kubelet, which end with the test, and waits until the node is ready.
func (c *cluster) startMachine(t *testing.T, name string) *machine {
	t.Helper()
	m := &machine{cluster: c, dir: filepath.Join(os.Getenv("SEINE_KUBELET"), "machine")}
	for _, dir := range []string{"cni", "kubelet"} {
		if err := os.MkdirAll(filepath.Join(m.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := c.ca.issue(t, "system:node:"+name, "system:nodes")
	replace := strings.NewReplacer("@DIR", m.dir, "@CNI", os.Getenv("SEINE_CNI"), "@CA", c.ca.file, "@CERT", files.cert, "@KEY", files.key, "@PORT", fmt.Sprint(freeport.Get(t)))
	for file, text := range map[string]string{"containerd.toml": containerdConfig, "cni/10-pods.conflist": podNetwork, "kubelet.yaml": kubeletConfig} {
		if err := os.WriteFile(filepath.Join(m.dir, file), []byte(replace.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runtime, err := exec.LookPath("containerd")
	if err != nil {
		t.Fatal(err)
	}
	start(t, nil, runtime, "--config", filepath.Join(m.dir, "containerd.toml"))
	await.Eventually(t, "containerd answers", func() bool { return m.ctr("version") == nil })
	m.importImages(t)
	kubelet := start(t, nil, program(t, "kubelet"), "--config", filepath.Join(m.dir, "kubelet.yaml"), "--root-dir", filepath.Join(m.dir, "kubelet"),
		"--kubeconfig", c.kubeconfig(t, "kubelet", files), "--hostname-override", name, "--node-ip", nodeAddress)
	await.Eventually(t, "the node is ready", func() bool {
		kubelet.runs(t)
		return m.nodeReady(name)
	})
	return m
}

func (m *machine) nodeReady(name string) bool {
	var n core.Node
	return m.get("/api/v1/nodes/"+name, &n) == nil && slices.ContainsFunc(n.Status.Conditions, func(c core.NodeCondition) bool {
		return c.Type == core.NodeReady && c.Status == core.ConditionTrue
	})
}

// ctr runs the client of containerd.
func (m *machine) ctr(args ...string) error {
	_, err := m.ctrSays(args...)
	return err
}

func (m *machine) ctrSays(args ...string) (string, error) {
	out, err := exec.Command("ctr", append([]string{"--address", filepath.Join(m.dir, "containerd.sock"), "--namespace", "k8s.io"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// importImages brings what scripts/kubelet-test has saved of Docker's images, and gives them the versions of the chart and
// of an upgrade.
func (m *machine) importImages(t *testing.T) {
	t.Helper()
	if err := m.ctr("images", "import", filepath.Join(os.Getenv("SEINE_KUBELET"), "images.tar")); err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages {
		for _, version := range []string{"0.1.0", "0.2.0"} {
			image := "docker.io/seine/" + stage + ":"
			if err := m.ctr("images", "tag", "--force", image+"latest", image+version); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// kill kills the containers of a stage, as a crash would, and returns how many.
func (m *machine) kill(t *testing.T, stage string) (killed int) {
	t.Helper()
	out, err := m.ctrSays("containers", "list")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 1 && strings.Contains(f[1], "/seine/"+stage+":") && m.ctr("tasks", "kill", "--signal", "SIGKILL", f[0]) == nil {
			killed++
		}
	}
	return killed
}

// With a kubelet and containerd: the pods run under the security that the chart asks for, a crawl goes through containers
// that are killed, pods that are deleted, a drain of the node and an upgrade, and every page has one record.
func TestReleaseOnAKubelet(t *testing.T) {
	if os.Getenv("SEINE_KUBELET") == "" {
		t.Skip("SEINE_KUBELET does not name a folder with images (scripts/kubelet-test)")
	}
	i := &installation{cluster: newCluster(t), t: t}
	if err := check.Binaries(binaries); err != nil {
		t.Fatal(err)
	}
	i.chart = i.cluster.chart(t, check.ChartFolder)
	i.startControllers(t)
	m := i.startMachine(t, "machine")
	i.createNamespace(t, check.Namespace)
	i.quota(t, check.Namespace)
	i.provision(t)
	i.broker = natstest.NewBroker(t, func(o *server.Options) { o.Host = "0.0.0.0" })
	i.web = testweb.New(site)
	web, err := testweb.Serve("0.0.0.0:0", i.web)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(web.Close)
	port := func(address string) string { return address[strings.LastIndexByte(address, ':'):] }
	i.site = "http://" + gateway + port(web.Addr())
	var small []string // requests: the node has two cores, perhaps, and pods come beside others in an upgrade
	for _, stage := range stages {
		small = append(small, stage+".resources.requests.cpu=50m")
	}
	i.install("nats://"+gateway+port(i.broker.URL()), small...)
	i.helm(t, "test", check.Release, "-n", check.Namespace, "--timeout", "2m")
	t.Log(i.kubectl(t, "", "-n", check.Namespace, "exec", "seine-frontier-0", "--", "/usr/local/bin/seine", "--version"))
	i.pace("100ms")
	i.seine("", "seed", "--crawl", "news", i.site+"/")

	i.pages(50)
	for _, stage := range stages {
		if m.kill(t, stage) == 0 {
			t.Errorf("no %s was there to be killed", stage)
		}
	}
	i.ready()
	i.pages(150)
	i.deletePods()
	i.pages(250)
	if _, _, err := i.command(t, "kubectl", "", "drain", "machine", "--timeout=2m"); err == nil {
		t.Log("the node is drained")
	} else {
		t.Logf("the drain waits for pods that have nowhere to go: %v", err) // one node: the budgets hold back the second of each
	}
	i.kubectl(t, "", "uncordon", "machine")
	i.ready()
	i.upgradeFrontierFirst()
	i.finish()
	i.checkOutput()
	i.checkUninstall()
}
