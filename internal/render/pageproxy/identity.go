package pageproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"time"
)

// validity of the certificate, which is longer than any process runs. Only the browsers of this
// process trust it, and its key ends with the process.
const validity = 10 * 365 * 24 * time.Hour

// Identity is a key of this process, and a certificate with which a proxy represents every host:
// browsers trust the key (see [Identity.SPKI]), and then ignore the name. It is safe for concurrent
// use by any number of proxies.
type Identity struct {
	spki      string
	serverTLS *tls.Config
}

// NewIdentity creates an Identity. It fails only if the system has no randomness.
func NewIdentity() (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create the key of the page proxy: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Seine page proxy"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(validity), // the clock may be set back
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of the page proxy: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode the key of the page proxy: %w", err)
	}
	return &Identity{spki: spkiHash(public), serverTLS: &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}}, nil
}

// SPKI returns the value for Chromium's option --ignore-certificate-errors-spki-list: the SHA-256
// hash, in base64, of the key's SubjectPublicKeyInfo.
func (i *Identity) SPKI() string { return i.spki }

func spkiHash(public []byte) string {
	sum := sha256.Sum256(public)
	return base64.StdEncoding.EncodeToString(sum[:])
}
