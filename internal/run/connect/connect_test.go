package connect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"seine/internal/streams/jsclient"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// All kinds of credentials can be given as files, and a server that does not accept them refuses
// the connection at once.
func TestEveryWayToSayWhoOneIs(t *testing.T) {
	password, token := file(t, "password", "s3cret\n"), file(t, "token", "t0ken")
	user, err := nkeys.CreateUser()
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	public, err := user.PublicKey()
	check(t, err)
	nkey := file(t, "nkey", string(seed))
	certs := newCertificates(t)
	for name, tt := range map[string]struct {
		server server.Options
		good   Options
		bad    Options
	}{
		"user": {
			server: server.Options{Username: "seine", Password: "s3cret"},
			good:   Options{User: "seine", Password: password}, bad: Options{User: "seine", Password: token},
		},
		"token": {
			server: server.Options{Authorization: "t0ken"},
			good:   Options{Token: token}, bad: Options{Token: password},
		},
		"NKEY": {
			server: server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}},
			good:   Options{NKey: nkey}, bad: Options{},
		},
		"TLS": {
			server: server.Options{TLS: true, TLSVerify: true, TLSConfig: certs.server(t)},
			good:   Options{CA: certs.ca, Cert: certs.cert, Key: certs.key}, bad: Options{CA: certs.ca},
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := startServer(t, tt.server)
			tt.good.NATS, tt.bad.NATS = url, url
			check(t, tt.good.Validate())
			bus, err := tt.good.Dial("test", slog.New(slog.DiscardHandler))
			check(t, err)
			bus.Close()
			if bus, err := tt.bad.Dial("test", slog.New(slog.DiscardHandler)); err == nil {
				bus.Close()
				t.Error("a stranger is let in")
			} else if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("a secret is told: %v", err)
			}
		})
	}
}

// A process whose server has certificates of another authority reports that and waits. It reads its
// own files again at each attempt, so replacing them is enough.
func TestServerOfAnotherAuthorityIsTold(t *testing.T) {
	mine, other := newCertificates(t), newCertificates(t)
	first := natstest.Options(t)
	first.DontListen, first.Host, first.Port, first.TLS, first.TLSVerify, first.TLSConfig = false, "127.0.0.1", server.RANDOM_PORT, true, true, mine.server(t)
	s := natstest.Start(t, first)
	log := new(await.Log)
	o := Options{NATS: "nats://" + s.Addr().String(), CA: mine.ca, Cert: mine.cert, Key: mine.key}
	bus, err := o.Dial("test", log.Logger())
	check(t, err)
	defer bus.Close()
	check(t, bus.Ready())

	second := *first
	second.Port, second.TLSConfig = s.Addr().(*net.TCPAddr).Port, other.server(t)
	s.Shutdown()
	s.WaitForShutdown()
	natstest.Start(t, &second)
	const why, hint = "certificate signed by unknown authority", "(--nats-ca names"
	await.Eventually(t, "it is said", func() bool {
		err := bus.Ready()
		return err != nil && strings.Contains(err.Error(), why) && strings.Contains(err.Error(), hint) && log.Has(why)
	})
	for from, to := range map[string]string{other.ca: mine.ca, other.cert: mine.cert, other.key: mine.key} {
		text, err := os.ReadFile(from)
		check(t, err)
		check(t, os.WriteFile(to, text, 0o600))
	}
	await.Eventually(t, "it is back", func() bool { return bus.Ready() == nil })
	if n := strings.Count(log.String(), "cannot reconnect to NATS"); n > 3 {
		t.Errorf("it is said %d times:\n%s", n, log)
	}
}

// On a server with an operator, users present a JWT that their account signed and that has their
// permissions.
func TestUserOfAnOperator(t *testing.T) {
	operator, operatorKey := newKey(t, nkeys.CreateOperator)
	account, accountKey := newKey(t, nkeys.CreateAccount)
	_, systemKey := newKey(t, nkeys.CreateAccount)
	user, userKey := newKey(t, nkeys.CreateUser)
	trusted := jwt.NewOperatorClaims(operatorKey)
	trusted.SystemAccount = systemKey
	_, err := trusted.Encode(operator)
	check(t, err)
	resolver := new(server.MemAccResolver)
	for key, name := range map[string]string{accountKey: "SEINE", systemKey: "SYS"} {
		claims := jwt.NewAccountClaims(key)
		claims.Name = name
		if name == "SEINE" {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
		}
		text, err := claims.Encode(operator)
		check(t, err)
		check(t, resolver.Store(key, text))
	}
	url := startServer(t, server.Options{
		TrustedOperators: []*jwt.OperatorClaims{trusted}, SystemAccount: systemKey, AccountResolver: resolver,
	})
	claims := jwt.NewUserClaims(userKey)
	claims.Name = "viewer"
	claims.Permissions.Pub.Allow.Add("seine.seeds.*")
	claims.Permissions.Sub.Allow.Add("_INBOX_viewer.>")
	creds := func(by nkeys.KeyPair) string {
		text, err := claims.Encode(by)
		check(t, err)
		seed, err := user.Seed()
		check(t, err)
		config, err := jwt.FormatUserConfig(text, seed)
		check(t, err)
		return file(t, "user.creds", string(config))
	}
	good := Options{NATS: url, Creds: creds(account), Inbox: "_INBOX_viewer"}
	check(t, good.Validate())
	bus, err := good.Dial("test", slog.New(slog.DiscardHandler))
	check(t, err)
	defer bus.Close()
	text, err := claims.Encode(account)
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	inContext := Options{Context: file(t, "context.json", fmt.Sprintf(`{"url": %q, "user_jwt": %q, "user_seed": %q, "inbox_prefix": "_INBOX_viewer"}`, url, text, seed))}
	again, err := inContext.Dial("test", slog.New(slog.DiscardHandler))
	check(t, err)
	again.Close()
	ctx, cancel := bus.Refusals.CancelOnDenied(t.Context())
	defer cancel()
	_, err = bus.JS.Stream(ctx, "PAGES")
	if err = bus.Refusals.WithErr(err); err == nil || !strings.Contains(err.Error(), "user viewer (JWT of "+userKey+") publish to $JS.API.STREAM.INFO.PAGES") {
		t.Errorf("what is not in the JWT: %v", err)
	}
	stranger, _ := newKey(t, nkeys.CreateAccount)
	unknown := Options{NATS: url, Creds: creds(stranger)}
	if bus, err := unknown.Dial("test", slog.New(slog.DiscardHandler)); err == nil {
		bus.Close()
		t.Error("a JWT of a stranger is let in")
	}
	claims.Expires = time.Now().Add(-time.Minute).Unix()
	late := Options{NATS: url, Creds: creds(account)}
	if bus, err := late.Dial("test", slog.New(slog.DiscardHandler)); err == nil {
		bus.Close()
		t.Error("a JWT that has expired is let in")
	} else if !strings.Contains(err.Error(), "rejected the credentials") {
		t.Errorf("it says: %v", err)
	}
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) (key nkeys.KeyPair, public string) {
	t.Helper()
	key, err := create()
	check(t, err)
	public, err = key.PublicKey()
	check(t, err)
	return key, public
}

// A context can be given as a file, and the files in it are relative to that file.
func TestContextByItsFile(t *testing.T) {
	user, public := newKey(t, nkeys.CreateUser)
	seed, err := user.Seed()
	check(t, err)
	byKey := startServer(t, server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	byToken := startServer(t, server.Options{Authorization: "t0ken"})
	byName := startServer(t, server.Options{Username: "seine", Password: "s3cret"})
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "user.nk"), seed, 0o600))
	for context, ok := range map[string]bool{
		`{"url": "` + byKey + `", "nkey": "user.nk"}`:                               true,
		`{"url": "` + byKey + `", "nkey": "none.nk"}`:                               false,
		`{"url": "` + byToken + `", "token": "t0ken"}`:                              true,
		`{"url": "` + byToken + `", "token": "other"}`:                              false,
		`{"url": "` + byName + `", "user": "seine", "password": "s3cret"}`:          true,
		`{"url": "` + byName + `", "user": "seine", "password": "s3cret", "nsc": 1`: false,
		`{"url": "` + byName + `", "nsc": "nsc://op/acc/user"}`:                     false,
	} {
		name := filepath.Join(dir, "context.json")
		check(t, os.WriteFile(name, []byte(context), 0o600))
		o := Options{Context: dir}
		check(t, o.Validate())
		bus, err := o.Dial("test", slog.New(slog.DiscardHandler))
		if err == nil {
			bus.Close()
		}
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v", context, err)
		}
	}
}

// Server and user can come from a context of the nats command.
func TestContextOfTheNATSCommand(t *testing.T) {
	url := startServer(t, server.Options{Username: "seine", Password: "s3cret"})
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	dir := filepath.Join(home, "nats", "context")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "crawl.json"), []byte(`{"url": "`+url+`", "user": "seine", "password": "s3cret"}`), 0o600))
	check(t, os.WriteFile(filepath.Join(home, "nats", "context.txt"), []byte("crawl\n"), 0o600))
	for _, name := range []string{"crawl", SelectedContext} {
		o := Options{Context: name}
		check(t, o.Validate())
		bus, err := o.Dial("test", slog.New(slog.DiscardHandler))
		check(t, err)
		bus.Close()
	}
	o := Options{Context: "other"}
	if _, err := o.Dial("test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("a context that is not there: %v", err)
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	some := file(t, "some", "x")
	for want, o := range map[string]Options{
		"--nats-creds":       {Creds: "/no/such/file"},
		"give one of":        {Creds: some, Token: some},
		"--nats-user and":    {User: "seine"},
		"--nats-cert and":    {Cert: some},
		"--nats-context has": {Context: "x", NATS: "nats://localhost"},
		"must begin with":    {NATS: "http://user:hidden@localhost"},
		"must be a URL":      {NATS: "nats://user:hidden@%zz"},
		"without wildcards":  {Inbox: "_INBOX.>"},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, url := range []string{"", "localhost:4222", "nats://a:1,nats://b:2", "tls://c", "wss://d"} {
		o := Options{NATS: url}
		check(t, o.Validate())
	}
	o := Options{Token: file(t, "empty", "\n")}
	if _, err := o.Dial("test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty secret: %v", err)
	}
}

func startServer(t *testing.T, o server.Options) string {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", -1, true, t.TempDir(), true, true
	return "nats://" + natstest.Start(t, &o).Addr().String()
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(f, []byte(text), 0o600))
	return f
}

// certificates are an authority and one certificate signed by it, for both sides.
type certificates struct{ ca, cert, key string }

func newCertificates(t *testing.T) certificates {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	check(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	certPEM := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	keyPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return certificates{file(t, "ca.pem", certPEM), file(t, "cert.pem", certPEM), file(t, "key.pem", keyPEM)}
}

func (c certificates) server(t *testing.T) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	check(t, err)
	text, err := os.ReadFile(c.ca)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A context selects the JetStream: that of a domain, from behind a leaf node with its own
// JetStream.
func TestContextOfAJetStreamDomain(t *testing.T) {
	for field, inHub := range map[string]bool{`"jetstream_domain": "hub"`: true, `"jetstream_domain": "leaf"`: false, `"jetstream_api_prefix": "$JS.hub.API"`: true} {
		t.Run(field, func(t *testing.T) {
			hub, leaf := natstest.Listening(t), natstest.Listening(t)
			hub.JetStreamDomain, leaf.JetStreamDomain = "hub", "leaf"
			hub.LeafNode = server.LeafNodeOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT}
			h := natstest.Start(t, hub)
			at, err := url.Parse(fmt.Sprintf("nats://127.0.0.1:%d", hub.LeafNode.Port))
			check(t, err)
			leaf.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{at}}}
			l := natstest.Start(t, leaf)
			o := Options{Context: file(t, "context.json", `{"url": "`+l.ClientURL()+`", `+field+`}`)}
			bus, err := o.Dial("test", slog.New(slog.DiscardHandler))
			check(t, err)
			t.Cleanup(bus.Close)
			await.Eventually(t, "the JetStream", func() bool {
				_, err := bus.JS.AccountInfo(t.Context())
				return err == nil
			})
			useAll(t, bus)
			for s, want := range map[*server.Server]bool{h: inHub, l: !inHub} {
				if z, err := s.Jsz(nil); err != nil || (z.Streams > 0) != want {
					t.Errorf("%d streams in domain %s (%v)", z.Streams, z.Config.Domain, err)
				}
			}
		})
	}
}

// useAll creates and uses streams, buckets and objects.
func useAll(t *testing.T, bus *stages.Bus) {
	t.Helper()
	ctx := t.Context()
	check(t, bus.Provision(ctx, 4, messages.DefaultStreamLimits(), 1))
	specs, err := stages.OpenSpecs(ctx, bus)
	check(t, err)
	spec := crawlspec.Default()
	_, err = specs.Put(ctx, "c", &spec)
	check(t, err)
	bodies, err := bus.JS.ObjectStore(ctx, messages.BucketBodies)
	check(t, err)
	_, err = bodies.PutBytes(ctx, "body", natstest.NoiseBytes(1, 1<<20))
	check(t, err)
	check(t, stages.NewPublisher(bus, "test").Publish(ctx, &nats.Msg{Subject: messages.SubjectPages("c", 0), Data: []byte("page")}))
	c, err := bus.OpenConsumer(ctx, messages.StreamPages, messages.WorkConsumer(messages.ConsumerParse, "", 1))
	check(t, err)
	var got []string
	check(t, jsclient.NewPuller(&bus.Client, c.CachedInfo()).Pull(ctx, jsclient.Batch{Messages: 1}, func(m *nats.Msg) {
		got = append(got, string(m.Data))
		check(t, m.AckSync())
	}))
	if len(got) != 1 || got[0] != "page" {
		t.Errorf("pulled %q", got)
	}
	if _, rev, err := bus.ReadKey(ctx, messages.BucketCrawls, "c"); err != nil || rev == 0 {
		t.Errorf("the spec has revision %d (%v)", rev, err)
	}
}
