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
	"net"
	"time"
)

// validity of the certificates: longer than any process runs. Nobody but the
// browsers of this process trusts them, and the keys end with it.
const validity = 10 * 365 * 24 * time.Hour

// maxLeaves is how many certificates of hosts are kept.
const maxLeaves = 1024

// Authority is a certificate authority in memory, made for this process. It
// signs certificates for the hosts that browsers ask for; all of them have one
// key, which browsers are told to trust (see [Authority.SPKI]). It is safe for
// concurrent use, by any number of proxies.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey // signs
	leafKey     *ecdsa.PrivateKey
	spki        string
	leaves      *leafCache
	serverTLS   *tls.Config
}

// NewAuthority makes one. It fails only if the system has no randomness.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of the certificate authority: %w", err)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of the certificates: %w", err)
	}
	a := &Authority{key: key, leafKey: leafKey, leaves: newLeafCache(maxLeaves)}
	if a.certificate, err = selfSigned(key); err != nil {
		return nil, err
	}
	if a.spki, err = spkiHash(leafKey); err != nil {
		return nil, err
	}
	a.serverTLS = &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: a.certificateFor,
	}
	return a, nil
}

// SPKI is what the option --ignore-certificate-errors-spki-list of Chromium
// wants: the SHA-256 hash, in base64, of the SubjectPublicKeyInfo of the key that
// all certificates of hosts have. The option takes a certificate chain if any
// certificate in it has that key. It is the key of the hosts' certificates and
// not that of the authority, because whoever sends a certificate must prove that
// he has its key, and need not prove it for the others of the chain.
func (a *Authority) SPKI() string { return a.spki }

// Certificate is that of the authority, for clients that verify chains.
func (a *Authority) Certificate() *x509.Certificate { return a.certificate }

// certificateFor gives the certificate for the host that the tunnel was opened
// to, whatever name the client says by SNI: a client names none for an address.
func (a *Authority) certificateFor(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	t, ok := hello.Conn.(*tunnel)
	if !ok {
		return nil, fmt.Errorf("TLS outside of a tunnel: %T", hello.Conn)
	}
	return a.leaf(t.hostname)
}

// leaf gives the certificate for a host name or an IP address.
func (a *Authority) leaf(host string) (*tls.Certificate, error) {
	if c := a.leaves.get(host); c != nil {
		return c, nil
	}
	template, err := newTemplate()
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &a.leafKey.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %q: %w", host, err)
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafKey}
	a.leaves.put(host, c)
	return c, nil
}

func selfSigned(key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	template, err := newTemplate()
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of the authority: %w", err)
	}
	return x509.ParseCertificate(der)
}

// newTemplate has what all certificates have. The time before now is for a
// clock that is set back.
func newTemplate() (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Seine page proxy"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(validity),
	}, nil
}

func spkiHash(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", fmt.Errorf("encode the key of the certificates: %w", err)
	}
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:]), nil
}
