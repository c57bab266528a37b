package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs test certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (a *authority) sign(name string, template *x509.Certificate) (certFile, keyFile string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			a.t.Fatal(err)
		}
		a.key = key
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(kind string, der []byte) string {
		file := filepath.Join(a.dir, name+"."+kind)
		block := map[string]string{"cert": "CERTIFICATE", "key": "EC PRIVATE KEY"}[kind]
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: der}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return file
	}
	return write("cert", der), write("key", keyDER)
}

// A client with a certificate of the authority is identified by its name; a client without one gets
// an explanatory error.
func TestClientCertificateLetsIn(t *testing.T) {
	ca := &authority{t: t, dir: t.TempDir()}
	caFile, _ := ca.sign("authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	o := options(t)
	o.TLS.ClientCA = caFile
	o.TLS.Cert, o.TLS.Key = ca.sign("server", &x509.Certificate{DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	client, key := ca.sign("anna", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	o.Listen = "127.0.0.1:0"
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	l, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = Serve(t.Context(), o, l) }()
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	pair, err := tls.LoadX509KeyPair(client, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		certs  []tls.Certificate
		status int
		body   string
	}{{nil, http.StatusUnauthorized, ""}, {[]tls.Certificate{pair}, http.StatusOK, "certificate anna"}} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost", Certificates: c.certs}}
		resp, err := (&http.Client{Transport: transport}).Get("https://" + l.Addr().String() + "/api/x")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if transport.CloseIdleConnections(); err != nil || resp.StatusCode != c.status || c.body != "" && string(text) != c.body {
			t.Errorf("%d %s, %v", resp.StatusCode, text, err)
		}
	}
}
