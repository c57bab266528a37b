package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/freeport"
)

// cluster is a Kubernetes of processes: an API server, and what more a test starts.
type cluster struct {
	dir    string
	url    string // of the API server
	config string // kubeconfig of the administrator
	ca     *authority
	keys   string // private key that signs the tokens of service accounts
	client *http.Client
}

// newCluster starts etcd and an API server, which ends with the test. It asks for certificates, keeps to RBAC, and has the
// admission plug-ins that are on by default.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	etcd, api := program(t, "etcd"), program(t, "kube-apiserver")
	c := &cluster{dir: t.TempDir()}
	c.ca = newAuthority(t, c.dir, "ca")
	c.keys = writeKey(t, filepath.Join(c.dir, "service-accounts.key"), newKey(t))
	admin := c.ca.issue(t, "admin", "system:masters")
	c.client = clientOf(t, c.ca, admin)
	store := c.startEtcd(t, etcd)
	s := c.startAPIServer(t, api, store)
	c.config = c.kubeconfig(t, "admin", admin)
	await.Eventually(t, "the API server is ready", func() bool {
		s.runs(t)
		return c.get("/readyz", nil) == nil
	})
	return c
}

func (c *cluster) startEtcd(t *testing.T, path string) (url string) {
	t.Helper()
	url, peers := "http://"+freeport.Addr(t), "http://"+freeport.Addr(t)
	start(t, nil, path, "--data-dir", filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	return url
}

func (c *cluster) startAPIServer(t *testing.T, path, etcd string) *daemon {
	t.Helper()
	address := freeport.Addr(t)
	_, port, _ := net.SplitHostPort(address)
	c.url = "https://" + address
	serving, kubelets := c.ca.issue(t, "kube-apiserver"), c.ca.issue(t, "kube-apiserver-kubelet", "system:masters")
	front := newAuthority(t, c.dir, "front-proxy")
	proxy := front.issue(t, "front-proxy-client")
	return start(t, nil, path,
		"--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", port,
		"--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16", "--allow-privileged",
		"--tls-cert-file", serving.cert, "--tls-private-key-file", serving.key, "--client-ca-file", c.ca.file,
		"--kubelet-client-certificate", kubelets.cert, "--kubelet-client-key", kubelets.key, "--kubelet-certificate-authority", c.ca.file,
		"--kubelet-preferred-address-types", "InternalIP",
		"--requestheader-client-ca-file", front.file, "--requestheader-allowed-names", "front-proxy-client",
		"--requestheader-username-headers", "X-Remote-User", "--requestheader-group-headers", "X-Remote-Group",
		"--requestheader-extra-headers-prefix", "X-Remote-Extra-",
		"--proxy-client-cert-file", proxy.cert, "--proxy-client-key-file", proxy.key,
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", c.keys, "--service-account-signing-key-file", c.keys,
		"--authorization-mode", "Node,RBAC", "--enable-admission-plugins", "NodeRestriction")
}

// startControllers starts the controller manager and the scheduler.
func (c *cluster) startControllers(t *testing.T) {
	t.Helper()
	for name, more := range map[string][]string{
		"kube-controller-manager": {
			"--service-account-private-key-file", c.keys, "--root-ca-file", c.ca.file, "--use-service-account-credentials",
			"--horizontal-pod-autoscaler-sync-period", "1s", "--concurrent-statefulset-syncs", "2",
		},
		"kube-scheduler": nil,
	} {
		config := c.kubeconfig(t, name, c.ca.issue(t, "system:"+name))
		args := append([]string{
			"--kubeconfig", config, "--authentication-kubeconfig", config, "--authorization-kubeconfig", config,
			"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(freeport.Get(t)), "--leader-elect=false",
		}, more...)
		start(t, nil, program(t, name), args...)
	}
}

// kubeconfig writes the file by which a user reaches the API server.
func (c *cluster) kubeconfig(t *testing.T, name string, user pair) (file string) {
	t.Helper()
	file = filepath.Join(c.dir, name+".kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: user, user: {client-certificate: %q, client-key: %q}}]
contexts: [{name: test, context: {cluster: test, user: user}}]
current-context: test
`, c.url, c.ca.file, user.cert, user.key)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// clientOf is an HTTP client with the certificate of a user.
func clientOf(t *testing.T, ca *authority, user pair) *http.Client {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(user.cert, user.key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
