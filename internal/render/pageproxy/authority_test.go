package pageproxy

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"testing"
)

func TestCertificatesOfHosts(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate())
	for _, host := range []string{"example.com", "a_b.example", "xn--bcher-kva.example", "93.184.216.34", "2606:4700::1111"} {
		made, err := a.leaf(host)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(made.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
		if base64.StdEncoding.EncodeToString(sum[:]) != a.SPKI() {
			t.Errorf("%s has a key of its own", host)
		}
		if again, err := a.leaf(host); err != nil || again != made {
			t.Errorf("%s is signed again: %v", host, err)
		}
	}
}

func TestLeafCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	a.leaves = newLeafCache(2)
	for _, host := range []string{"a.example", "b.example", "a.example", "c.example", "c.example"} {
		if _, err := a.leaf(host); err != nil {
			t.Fatal(err)
		}
	}
	kept := fmt.Sprint(a.leaves.get("a.example") != nil, a.leaves.get("b.example") != nil, a.leaves.get("c.example") != nil)
	if kept != "true false true" || a.leaves.order.Len() != 2 {
		t.Errorf("%s, %d", kept, a.leaves.order.Len())
	}
}
