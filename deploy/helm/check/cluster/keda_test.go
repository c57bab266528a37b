package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/deploy/helm/check"
	"seine/internal/testing/await"
	"seine/internal/testing/freeport"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// metricsService leads the API server to KEDA's metrics, on loopback.
const metricsService = `
apiVersion: v1
kind: Service
metadata: {name: keda-metrics-apiserver, namespace: keda}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  service: {name: keda-metrics-apiserver, namespace: keda, port: PORT}
  group: external.metrics.k8s.io
  version: v1beta1
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
`

// startKEDA starts KEDA's operator and what serves its metrics.
func (c *cluster) startKEDA(t *testing.T) {
	t.Helper()
	operator, adapter := program(t, "keda-operator"), program(t, "keda-adapter")
	c.createNamespace(t, "keda")
	dir := filepath.Join(c.dir, "keda")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	files := c.ca.issue(t, "keda-operator")
	for to, from := range map[string]string{"ca.crt": c.ca.file, "tls.crt": files.cert, "tls.key": files.key} {
		if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	grpc, port := freeport.Addr(t), fmt.Sprint(freeport.Get(t))
	env := []string{"KUBECONFIG=" + c.config, "WATCH_NAMESPACE=", "POD_NAMESPACE=keda", "KEDA_CLUSTER_OBJECT_NAMESPACE=keda"}
	start(t, env, operator, "--cert-dir", dir, "--metrics-service-bind-address", grpc, "--enable-prometheus-metrics=false", "--health-probe-bind-address", "0")
	start(t, env, adapter, "--cert-dir", dir, "--metrics-service-address", grpc, "--metrics-service-grpc-authority", "localhost",
		"--secure-port", port, "--bind-address", "127.0.0.1", "--port", fmt.Sprint(freeport.Get(t)),
		"--lister-kubeconfig", c.config, "--authentication-kubeconfig", c.config, "--authorization-kubeconfig", c.config)
	c.kubectl(t, strings.ReplaceAll(metricsService, "PORT", port), "apply", "-f", "-")
	await.Eventually(t, "KEDA serves metrics", func() bool { return c.get("/apis/external.metrics.k8s.io/v1beta1", nil) == nil })
}

// work is FETCH with its consumer, on a server with a monitoring port.
type work struct {
	t          *testing.T
	js         jetstream.JetStream
	consumer   jetstream.Consumer
	monitoring string
	url        string
	held       []jetstream.Msg
}

func newWork(t *testing.T) *work {
	t.Helper()
	b := natstest.NewBroker(t, func(o *server.Options) { o.HTTPHost, o.HTTPPort = "127.0.0.1", -1 })
	nc, err := nats.Connect(b.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	w := &work{t: t, monitoring: b.Server.MonitorAddr().String(), url: b.URL()}
	if w.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	for _, s := range messages.Streams(messages.DefaultStreamLimits(), 1) {
		if _, err := w.js.CreateStream(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	w.consumer, err = w.js.CreateConsumer(t.Context(), messages.StreamFetch, messages.WorkConsumer(messages.ConsumerFetch, "seine.fetch.*.*", 1000))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// add has the frontier send requests.
func (w *work) add(n int) {
	w.t.Helper()
	for i := range n {
		if _, err := w.js.Publish(w.t.Context(), messages.SubjectFetch(messages.DefaultCrawl, i%16), []byte(`{}`)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// take has fetchers take requests, and hold them.
func (w *work) take(n int) {
	w.t.Helper()
	got, err := w.consumer.Fetch(n)
	if err != nil {
		w.t.Fatal(err)
	}
	for m := range got.Messages() {
		w.held = append(w.held, m)
	}
}

// finish has fetchers answer all that they hold.
func (w *work) finish() {
	w.t.Helper()
	for _, m := range w.held {
		if err := m.DoubleAck(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	w.held = nil
}

// lag is what KEDA says that waits for fetchers.
func (c *cluster) lag() int {
	var list struct{ Items []struct{ Value string } }
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/" + check.Namespace + "/s0-nats-jetstream-" + messages.StreamFetch + "?labelSelector=scaledobject.keda.sh%2Fname%3Dseine-fetcher"
	if c.get(path, &list) != nil || len(list.Items) != 1 {
		return -1
	}
	n, err := strconv.Atoi(list.Items[0].Value)
	if err != nil {
		return -1
	}
	return n
}

// KEDA scales fetchers by what waits for them and what they hold, between the limits of the chart, and leaves as many as
// there are when the consumer is gone.
func TestKEDAScalesByLag(t *testing.T) {
	program(t, "keda-operator")
	c, w := releases(t), newWork(t)
	c.startKEDA(t)
	c.helm(t, "install", check.Release, c.chart(t, check.ChartFolder), "-n", check.Namespace,
		"--set", "nats.enabled=false,natsServer.url="+w.url+",natsServer.monitoring="+w.monitoring,
		"--set", "autoscaling.mode=keda,autoscaling.keda.pollingSeconds=1,autoscaling.scaleDownSeconds=1")
	replicas := func(n int32) {
		t.Helper()
		await.Eventually(t, fmt.Sprintf("there are %d fetchers", n), func() bool { return *c.deployment(t, "seine-fetcher").Spec.Replicas == n })
	}
	w.add(300)
	w.take(40)
	await.Eventually(t, "KEDA reads a lag of 300", func() bool { return c.lag() == 300 })
	replicas(3) // 300 by 128
	w.take(260)
	await.Eventually(t, "what is held counts as well", func() bool { return c.lag() == 300 })
	w.add(700)
	replicas(8) // 1000 by 128, the largest number
	w.finish()
	replicas(6) // 700 by 128
	if err := w.js.DeleteConsumer(t.Context(), messages.StreamFetch, messages.ConsumerFetch); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "KEDA misses the consumer", func() bool { return c.lag() == -1 || c.fallback(t) })
	await.Always(t, 15*time.Second, "as many fetchers go on as there were", func() bool { return *c.deployment(t, "seine-fetcher").Spec.Replicas == 6 })
}

// fallback reports whether KEDA knows that it cannot read the lag.
func (c *cluster) fallback(t *testing.T) bool {
	t.Helper()
	var o struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := c.get("/apis/keda.sh/v1alpha1/namespaces/"+check.Namespace+"/scaledobjects/seine-fetcher", &o); err != nil {
		t.Fatal(err)
	}
	for _, condition := range o.Status.Conditions {
		if condition.Type == "Fallback" && condition.Status == "True" {
			return true
		}
	}
	return false
}
