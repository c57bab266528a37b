package setup

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Files of a server or a user.
const (
	caFile   = "ca.pem"
	certFile = "cert.pem"
	keyFile  = "key.pem"
)

// Validity of certificates. One that expires within renewBefore is renewed.
const (
	caLife      = 10 * 365 * 24 * time.Hour
	certLife    = 397 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
)

// authority is the certificate authority of an installation.
type authority struct {
	cert *x509.Certificate
	key  crypto.PrivateKey
	pem  []byte
}

// authority reads the authority in dir, or creates it.
func (r *Result) authority(dir string) (*authority, error) {
	if err := r.folder(dir); err != nil {
		return nil, err
	}
	certName, keyName := filepath.Join(dir, caFile), filepath.Join(dir, keyFile)
	pair, err := tls.LoadX509KeyPair(certName, keyName)
	if errors.Is(err, fs.ErrNotExist) {
		ca := &x509.Certificate{
			Subject: pkix.Name{CommonName: "Seine's NATS"}, NotAfter: time.Now().Add(caLife),
			IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
		}
		if err = r.issue(certName, keyName, ca, nil); err == nil {
			pair, err = tls.LoadX509KeyPair(certName, keyName)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("authority in %s: %w", dir, err)
	}
	text, err := os.ReadFile(certName)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	return &authority{cert: pair.Leaf, key: pair.PrivateKey, pem: text}, nil
}

// identity ensures that dir has a certificate that stays valid for a while: a server certificate if
// it has hosts, otherwise a client certificate.
func (r *Result) identity(dir string, ca *authority, name string, hosts []string) error {
	if err := r.folder(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := r.folder(dir); err != nil {
		return err
	}
	if err := r.write(filepath.Join(dir, caFile), ca.pem); err != nil {
		return err
	}
	want := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(certLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) > 0 {
		want.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			want.IPAddresses = append(want.IPAddresses, ip)
		} else {
			want.DNSNames = append(want.DNSNames, h)
		}
	}
	certName, keyName := filepath.Join(dir, certFile), filepath.Join(dir, keyFile)
	if good(certName, keyName, want, ca) {
		return nil
	}
	if err := r.issue(certName, keyName, want, ca); err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	return nil
}

// good reports whether the existing certificate matches want and stays valid for a while.
func good(certName, keyName string, want *x509.Certificate, ca *authority) bool {
	pair, err := tls.LoadX509KeyPair(certName, keyName)
	if err != nil {
		return false
	}
	have := pair.Leaf
	return have.CheckSignatureFrom(ca.cert) == nil && time.Until(have.NotAfter) > renewBefore &&
		slices.Equal(have.DNSNames, want.DNSNames) && slices.EqualFunc(have.IPAddresses, want.IPAddresses, net.IP.Equal)
}

// issue creates a key and a certificate, signed by ca; without ca, the certificate is self-signed.
func (r *Result) issue(certName, keyName string, template *x509.Certificate, ca *authority) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	if ca == nil {
		ca = &authority{cert: template, key: key}
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return fmt.Errorf("make serial number: %w", err)
	}
	template.NotBefore = time.Now().Add(-5 * time.Minute) // tolerates clock skew
	cert, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return fmt.Errorf("sign certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	if err := r.write(keyName, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})); err != nil {
		return err
	}
	return r.write(certName, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
}
