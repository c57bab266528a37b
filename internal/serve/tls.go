package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// TLS configures encryption and client certificates.
type TLS struct {
	Cert     string `group:"access" name:"tls-cert" help:"TLS certificate of the server (PEM)." placeholder:"FILE"`
	Key      string `group:"access" name:"tls-key" help:"Private key of the certificate (PEM)." placeholder:"FILE"`
	ClientCA string `group:"access" name:"client-ca" help:"CA certificates (PEM). A client with a certificate signed by one of them has full access." placeholder:"FILE"`
}

func (t *TLS) validate() error {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case t.ClientCA != "" && t.Cert == "":
		return errors.New("--client-ca: certificates of clients need https: give --tls-cert and --tls-key, too")
	}
	_, err := t.config()
	return err
}

// config returns nil without TLS.
func (t *TLS) config() (*tls.Config, error) {
	if t.Cert == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", t.Cert, t.Key, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if t.ClientCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(t.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("--client-ca: %w", err)
	}
	// Clients without a certificate are accepted: they may have a token, and otherwise the response
	// says what is missing.
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--client-ca %s: has no certificate in PEM", t.ClientCA)
	}
	return c, nil
}

func (t *TLS) listen(l net.Listener) (net.Listener, error) {
	c, err := t.config()
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	if c == nil {
		return l, nil
	}
	return tls.NewListener(l, c), nil
}
