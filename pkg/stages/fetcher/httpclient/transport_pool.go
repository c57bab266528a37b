package httpclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"seine/internal/fetch/netguard"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// transportKey holds the properties of a connection other than its host: only requests with the
// same key may share one.
type transportKey struct {
	private bool   // private addresses may be dialled
	allow   string // other allowed networks, separated by spaces
	tls     crawlspec.TLS
	proxy   string // its URL with the password, "" for none
	http1   bool   // for requests that HTTP/2 does not support
}

// transportKeyOf returns the key of requests without a proxy.
func transportKeyOf(spec *crawlspec.Spec, t *crawlspec.TLS) transportKey {
	w := transportKey{private: spec.AllowPrivate}
	var allow []string
	for _, p := range spec.AllowAddresses {
		allow = append(allow, p.String())
	}
	w.allow = strings.Join(allow, " ")
	if t != nil {
		w.tls = *t
	}
	return w
}

// guardKey identifies the set of addresses that may be dialled: "" is the set that every crawl may
// dial.
func (k transportKey) guardKey() string {
	if !k.private && k.allow == "" {
		return ""
	}
	return fmt.Sprint(k.private, k.allow)
}

func (k transportKey) guard() *netguard.Guard {
	var allow []netip.Prefix
	for _, text := range strings.Fields(k.allow) {
		if p, err := netip.ParsePrefix(text); err == nil { // the spec was validated
			allow = append(allow, p)
		}
	}
	return netguard.New(allow, k.private)
}

// transportPools keeps the connections of each transportKey.
type transportPools struct {
	cfg      Config
	resolver *resolver
	tls      *tls.Config
	idle     int // maximum of idle connections without a proxy

	mu      sync.RWMutex
	pools   map[transportKey]*pool
	keys    int                            // total bytes of the keys of pools
	proxies map[string]weak.Pointer[proxy] // those of policies in use
}

// pool is the connections of one transportKey.
type pool struct {
	*http.Transport
	dialer *dialer
}

// send sends a request over a connection of the pool.
func (p *pool) send(ctx context.Context, req *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	if by := p.dialer.proxy; by != nil && by.Scheme == "http" {
		if err := p.dialer.checkTarget(ctx, hostPort(req.URL)); err != nil {
			return nil, err
		}
		if req.URL.Scheme == "http" {
			absolute(req.URL)
		}
	}
	return p.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
}

// Limits of idle connections.
const (
	maxPools        = 256
	maxPoolKeys     = 8 << 20 // bytes of all keys: a spec may have long proxies and certificates
	maxIdleConns    = 1024    // of all without a proxy
	maxIdleProxied  = 64      // for each proxy
	idleConnTimeout = time.Minute
	maxTLSSessions  = 1024
)

func newTransportPools(cfg Config, r *resolver, idle int) *transportPools {
	return &transportPools{
		cfg: cfg, idle: max(1, idle), // 0 would be no limit
		resolver: r, pools: make(map[transportKey]*pool), proxies: make(map[string]weak.Pointer[proxy]),
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			// Without X25519MLKEM768, which is a third of the cost of a handshake.
			CurvePreferences:   []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
			ClientSessionCache: tls.NewLRUClientSessionCache(maxTLSSessions),
		},
	}
}

// pool returns the connections of a transportKey.
func (s *transportPools) pool(w transportKey) *pool {
	s.mu.RLock()
	p := s.pools[w]
	s.mu.RUnlock()
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pools[w]; p != nil {
		return p
	}
	for old, p := range s.pools { // specs have come and gone: evict any
		if len(s.pools) < maxPools && s.keys+w.size() <= maxPoolKeys {
			break
		}
		delete(s.pools, old)
		s.keys -= old.size()
		p.CloseIdleConnections()
	}
	p = s.open(w)
	s.pools[w] = p
	s.keys += w.size()
	return p
}

// size is the number of bytes in the texts of a key.
func (k transportKey) size() int { return len(k.allow) + len(k.tls.CA) + len(k.proxy) }

func (s *transportPools) open(w transportKey) *pool {
	secure := s.tlsFor(w.tls)
	if w.http1 {
		secure = secure.Clone()
		secure.NextProtos = []string{"http/1.1"}
	}
	d := newDialer(s.cfg, s.resolver, w.guard(), secure)
	t := &http.Transport{
		DialContext: d.plain, DialTLSContext: d.secure, ForceAttemptHTTP2: !w.http1,
		DisableCompression: true, MaxResponseHeaderBytes: int64(s.cfg.MaxHeader),
		MaxIdleConns: s.idle, MaxIdleConnsPerHost: s.cfg.MaxIdlePerHost, IdleConnTimeout: idleConnTimeout,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second,
			WriteByteTimeout: time.Duration(s.cfg.StallTimeout), // no context ends a blocked write
		},
	}
	if w.proxy == "" {
		return &pool{t, d}
	}
	u, err := url.Parse(w.proxy)
	if err != nil {
		panic(err) // it was formatted by URL.String
	}
	t.MaxIdleConns = min(s.idle, maxIdleProxied)
	d.proxy = u
	if u.Scheme == "http" { // unencrypted requests go to the proxy directly
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme == "http" {
				return u, nil
			}
			return nil, nil
		}
	}
	return &pool{t, d}
}

func (s *transportPools) tlsFor(t crawlspec.TLS) *tls.Config {
	cfg := s.tls
	if t == (crawlspec.TLS{}) {
		return cfg
	}
	cfg = cfg.Clone()
	cfg.InsecureSkipVerify = t.Insecure
	// A session begun without verification must not be resumed.
	cfg.ClientSessionCache = tls.NewLRUClientSessionCache(maxTLSSessions)
	if i := slices.Index(crawlspec.TLSVersions, t.MinVersion); i >= 0 {
		cfg.MinVersion = tls.VersionTLS10 + uint16(i)
	}
	if t.CA != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		roots.AppendCertsFromPEM([]byte(t.CA))
		cfg.RootCAs = roots
	}
	return cfg
}

// proxy returns the proxy of a spec. All specs in use share its state. A proxy that no policy holds
// any longer is dropped, so that the specs of many single requests do not accumulate.
func (s *transportPools) proxy(text string, secrets secretStore) (*proxy, error) {
	u, err := crawlspec.ParseProxy(text)
	if err != nil {
		return nil, Failf(messages.Misconfigured, "proxies: %v", err)
	}
	u.Path = ""
	if password, ok := u.User.Password(); ok {
		if password, err = secrets.fill(password); err != nil {
			return nil, err
		}
		u.User = url.UserPassword(u.User.Username(), password)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := u.String()
	p := s.proxies[key].Value()
	if p == nil {
		p = &proxy{key: key, url: u}
		s.proxies[key] = weak.Make(p)
		runtime.AddCleanup(p, s.dropProxy, key)
	}
	return p, nil
}

// dropProxy removes a collected proxy, unless another one has its key by now.
func (s *transportPools) dropProxy(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxies[key].Value() == nil {
		delete(s.proxies, key)
	}
}

func (s *transportPools) close() {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pools {
		p.CloseIdleConnections()
	}
}
