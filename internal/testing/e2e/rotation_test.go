package e2e

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/output/bucket"
	"seine/internal/testing/s3server"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

const (
	rotationDelay = time.Second
	rotationSpec  = "delay: 1s\nallow_private: true\narchive: true\n"
	// hasteSpec is rotationSpec for the rest, after the last replacement.
	hasteSpec = "delay: 50ms\nallow_private: true\narchive: true\n"
)

// needRotation skips a test that is too slow for a normal run.
func needRotation(t *testing.T) {
	t.Helper()
	if os.Getenv("E2E_ROTATION") == "" {
		t.Skip("it takes long: make rotation")
	}
}

// During a crawl by all roles on a locked server, the certificates are renewed, one user gets new
// keys, another user is removed, and the authority is replaced, each as docs/guides/secure.md says.
// A refused process waits and logs the reason. Nothing is lost or repeated.
func TestRotationOfCertificatesAndKeys(t *testing.T) {
	needRotation(t)
	t.Parallel()
	web := serveHosts(t, testweb.Config{Hosts: 32, PagesPerHost: 120, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10})
	r := newRotation(t, web)
	r.certificatesEnd()
	r.keysOfTheFetcher()
	r.feederIsTakenBack()
	r.authorityIsReplaced()
	web.wantLeft(t)
	web.wantGaps(t, rotationDelay)
	wantOutput(t, r.seine("owner", "spec", "apply", file(t, "haste.yaml", hasteSpec), "--crawl", "site"))
	n := r.complete(r.bus, "site", 3*time.Minute)
	wantArchivedPages(t, r.outOf("archive"), n.Pages, r.all()...)
	wantNoDeadLetters(t, r.bus)
	r.finish(r.bus, "site", time.Minute)
	wantPages(t, records(t, r.out(), "site"), web.pages)
	if got := len(archiveOf(t, r.outOf("archive")).pages); got != len(web.pages) {
		t.Errorf("the archive has %d pages, want %d", got, len(web.pages))
	}
	repeats, which := web.repeats()
	t.Logf("%d requests, %d fetched again: %q", len(web.Requests()), repeats, which)
	if repeats > web.Hosts() { // each host has one request in flight when its fetcher is shut out
		t.Errorf("%d pages were fetched again: %q", repeats, which)
	}
}

// rotation is a crawl whose users are on separate machines.
type rotation struct {
	*locked
	web *manyHosts
	bus *stages.Bus
}

func newRotation(t *testing.T, web *manyHosts) *rotation {
	t.Helper()
	r := &rotation{web: web}
	r.locked = newLocked(t, 4, func(server string) {
		ca := filepath.Join(filepath.Dir(server), "ca")
		users, err := filepath.Glob(filepath.Join(filepath.Dir(server), "users", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range append(users, server) {
			endSoon(t, dir, ca)
		}
	})
	r.users = filepath.Join(r.dir, "machines")
	r.bringAll()
	r.front = r.frontier("f1")
	r.fetch = []*process{r.stage("fetcher", "fetcher", "--drain", "5s"), r.stage("fetcher", "fetcher", "--drain", "5s")}
	r.parse = []*process{r.stage("parser", "parser")}
	r.write = []*process{r.writer("default", "records", "jsonl.zst"), r.writer("archive", "pages", "warc.gz")}
	r.bus = r.dial("operator")
	if err := r.bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantReaders(t, r.bus, 8, r.all()...)
	spec := file(t, "spec.yaml", rotationSpec)
	wantOutput(t, r.seine("owner", "spec", "apply", spec, "--crawl", "site"))
	wantOutput(t, r.seine("feeder", append([]string{"seed", "--crawl", "site"}, seedsOf(web.server, web.Hosts())...)...), "fed")
	web.more(t, 100, r.all()...)
	return r
}

// endSoon replaces the certificate in a folder with one that expires in 20 days, as if it were from
// last year.
func endSoon(t *testing.T, dir, ca string) {
	t.Helper()
	signer, err := tls.LoadX509KeyPair(filepath.Join(ca, "ca.pem"), filepath.Join(ca, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "cert.pem")
	pair, err := tls.LoadX509KeyPair(name, filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	old := *pair.Leaf
	old.NotAfter = time.Now().Add(20 * 24 * time.Hour)
	cert, err := x509.CreateCertificate(rand.Reader, &old, signer.Leaf, old.PublicKey, signer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bring copies the folder of a user to its machine.
func (r *rotation) bring(user string) {
	r.t.Helper()
	to := filepath.Join(r.users, user)
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(filepath.Join(r.installation(), "users", user)))); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rotation) bringAll() {
	r.t.Helper()
	users, err := os.ReadDir(filepath.Join(r.installation(), "users"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, u := range users {
		r.bring(u.Name())
	}
}

// restart restarts a process and returns once the crawl has continued with it.
func (r *rotation) restart(p *process) {
	r.t.Helper()
	p.signal(syscall.SIGTERM)
	<-p.gone
	p.start()
	r.goOn(p)
}

// goOn waits until a process is ready and pages are fetched.
func (r *rotation) goOn(p *process) {
	r.t.Helper()
	eventually(r.t, time.Minute, "be ready", func() (bool, string) { got := p.ready(); return strings.HasPrefix(got, "200"), got }, r.all()...)
	r.web.more(r.t, 30, r.all()...)
}

// wantSaid waits until a process reports a text in its log and at /readyz.
func (r *rotation) wantSaid(p *process, text string) {
	r.t.Helper()
	eventually(r.t, time.Minute, "say why it waits", func() (bool, string) {
		ready := p.ready()
		return strings.HasPrefix(ready, "503") && strings.Contains(ready, text) && strings.Contains(p.log.String(), text), ready
	}, r.all()...)
	r.t.Logf("%s says at /readyz: %s", p.name, strings.TrimSpace(p.ready()))
}

// certificate returns the serial number of the server's certificate.
func (r *rotation) certificate() string {
	r.t.Helper()
	b := r.dial("viewer")
	defer b.Close()
	state, err := b.NC.TLSConnectionState()
	if err != nil {
		r.t.Fatal(err)
	}
	return state.PeerCertificates[0].SerialNumber.String()
}

// certificatesEnd renews all certificates a month before they expire: it runs natsusers, reloads
// the server, and restarts one stage after the other.
func (r *rotation) certificatesEnd() {
	r.t.Helper()
	before := r.certificate()
	said := r.setUp("")
	if n := strings.Count(said, "cert.pem"); n < 10 || !strings.Contains(said, filepath.Join("server", "cert.pem")) {
		r.t.Errorf("natsusers makes %d certificates: %s", n, said)
	}
	r.bringAll()
	r.reload()
	if r.certificate() == before {
		r.t.Error("the server has its old certificate after a reload")
	}
	for _, p := range r.all() {
		r.restart(p)
	}
}

// keysOfTheFetcher gives one user new keys: its processes are shut out until they are restarted
// with them.
func (r *rotation) keysOfTheFetcher() {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.installation(), "users", "fetcher")); err != nil {
		r.t.Fatal(err)
	}
	r.setUp("")
	r.reload()
	for _, p := range r.fetch {
		r.wantSaid(p, "the NATS server does not let user fetcher (NKEY U")
	}
	r.bring("fetcher")
	for _, p := range r.fetch {
		p.signal(syscall.SIGTERM)
		<-p.gone
		r.t.Logf("the fetcher that was shut out ended with %v", p.err)
		p.start()
	}
	for _, p := range r.fetch {
		r.goOn(p)
	}
}

// feederIsTakenBack removes a user from the installation.
func (r *rotation) feederIsTakenBack() {
	r.t.Helper()
	feeder := r.dial("feeder") // is connected
	name := filepath.Join(r.installation(), "installation.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	without := strings.Replace(string(text), "{name: feeder, crawls: [site]}, ", "", 1)
	if err := os.WriteFile(name, []byte(without), 0o600); err != nil || without == string(text) {
		r.t.Fatalf("the feeder is not in the installation: %v", err)
	}
	if said := r.setUp(""); !strings.Contains(said, "unused, remove it: "+filepath.Join(r.installation(), "users", "feeder")) {
		r.t.Errorf("natsusers says: %s", said)
	}
	r.reload()
	eventually(r.t, 20*time.Second, "cut its connection", func() (bool, string) {
		err := feeder.Refusals.Err()
		return err != nil && strings.Contains(err.Error(), "does not let user feeder"), fmt.Sprint(err)
	})
	feeder.Close()
	if out := r.seine("feeder", "seed", "--crawl", "site", r.web.server.URL(0, "/")); out.code() != 1 || !strings.Contains(out.stderr.String(), "the server does not know this user or its key") {
		r.t.Errorf("a feeder that was taken back: %d, %s", out.code(), out.said())
	}
	wantOutput(r.t, r.seine("owner", "seed", "--crawl", "site", r.web.server.URL(0, "/")), "fed")
	for _, p := range r.all() {
		r.goOn(p)
	}
}

// authorityIsReplaced issues all certificates again from a new authority and restarts the server.
// Stages with updated folders reconnect by themselves. The parser reports its problem and continues
// once its folder is updated.
func (r *rotation) authorityIsReplaced() {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.installation(), "ca")); err != nil {
		r.t.Fatal(err)
	}
	r.setUp("")
	r.reload()
	r.web.more(r.t, 30, r.all()...) // connections stay open
	out := r.seine("viewer", "status")
	if out.code() != 1 || !strings.Contains(out.stderr.String(), "certificate signed by unknown authority") {
		r.t.Errorf("a client of the old authority: %d, %s", out.code(), out.said())
	}
	old := filepath.Join(r.dir, "parser")
	if err := os.CopyFS(old, os.DirFS(filepath.Join(r.users, "parser"))); err != nil {
		r.t.Fatal(err)
	}
	r.bringAll()
	if err := errors.Join(os.RemoveAll(filepath.Join(r.users, "parser")), os.Rename(old, filepath.Join(r.users, "parser"))); err != nil {
		r.t.Fatal(err)
	}
	r.nats.kill()
	r.nats.start()
	r.wantSaid(r.parse[0], "certificate signed by unknown authority")
	r.bring("parser")
	for _, p := range r.all() {
		r.goOn(p)
	}
	seineUntil(r.t, append([]string{"status"}, r.as("viewer")...)...)
}

// The credentials of an S3 service change: the writer waits and reports the reason, and continues
// after a restart with the new ones.
func TestRotationOfS3Credentials(t *testing.T) {
	needRotation(t)
	s3server.SetCredentials()
	s3 := s3server.Start(t)
	site, web := testSite(t, testweb.Config{PagesPerHost: 800, Latency: 50 * time.Millisecond, PageBytes: 4 << 10})
	c := newCluster(t, shape{})
	out := s3.Out()
	w := c.stage("writer", "--name", "files", "--out", out, "--s3-endpoint", s3.Endpoint(), "--s3-path-style", "--state", filepath.Join(c.dir, "files"), "--chunk-age", "500ms")
	bus := c.bus()
	spec := quick()
	spec.PerHost = 4
	c.begin(bus, "site", spec, site.seed)
	committed := func() (n int) {
		t.Helper()
		log, err := writer.OpenOutput(out, "files", bucket.Options{Endpoint: s3.Endpoint(), PathStyle: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := log.All()
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
		for i := range all {
			n += all[i].Records()
		}
		return n
	}
	eventually(t, time.Minute, "commit some", func() (bool, string) { n := committed(); return n > 20, fmt.Sprint(n) }, w)
	s3.ChangeCredentials("another-key", "another-secret-0123456789")
	eventually(t, time.Minute, "say why it waits", func() (bool, string) {
		ready := w.ready()
		return strings.HasPrefix(ready, "503") && strings.Contains(ready, "the credentials are not accepted"), ready
	}, w)
	t.Logf("the writer says at /readyz: %s", strings.TrimSpace(w.ready()))
	w.signal(syscall.SIGTERM)
	<-w.gone
	t.Logf("it ended with %v", w.err)
	w.env = []string{"AWS_ACCESS_KEY_ID=another-key", "AWS_SECRET_ACCESS_KEY=another-secret-0123456789"}
	w.start()
	n := c.finish(bus, "site", time.Minute)
	eventually(t, time.Minute, "be ready", func() (bool, string) { got := w.ready(); return strings.HasPrefix(got, "200"), got }, w)
	w.drain()
	s3.ChangeCredentials(s3server.Key, s3server.Secret) // back to the credentials of this process
	if got := committed(); int64(got) != n.Pages || got != len(site.pages) {
		t.Errorf("%d records of %d pages are committed, want %d", got, n.Pages, len(site.pages))
	}
	wantOutput(t, runSeine(t, "verify", out, "--s3-endpoint", s3.Endpoint(), "--s3-path-style"), "all as committed")
	t.Logf("%d requests", len(web.Requests()))
}

// A writer is restarted with another recipient during a crawl. Output from before is read with the
// old key, later output with the new one, and all of it with both.
func TestRotationOfRecipients(t *testing.T) {
	t.Parallel()
	site, web := testSite(t, testweb.Config{PagesPerHost: 240, Latency: 30 * time.Millisecond, PageBytes: 4 << 10})
	var keys, recipients []string
	for i := range 2 {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		keys, recipients = append(keys, file(t, fmt.Sprint("key", i), id.String()+"\n")), append(recipients, id.Recipient().String())
	}
	c := newCluster(t, shape{})
	out := filepath.Join(c.dir, "sealed")
	w := c.stage("writer", "--name", "sealed", "--out", out, "--state", filepath.Join(c.dir, "state"), "--chunk-age", "200ms", "--encrypt", recipients[0])
	bus := c.bus()
	spec := quick()
	spec.PerHost = 4
	c.begin(bus, "site", spec, site.seed)
	eventually(t, time.Minute, "fetch some pages", func() (bool, string) { return len(web.Requests()) > 80, "" }, w)
	w.drain()
	w.args[len(w.args)-1] = recipients[1]
	w.start()
	n := c.finish(bus, "site", time.Minute)
	eventually(t, time.Minute, "commit every record", func() (bool, string) {
		commits, err := readCommits(out, "sealed")
		got := 0
		for i := range commits {
			got += commits[i].Records()
		}
		return err == nil && int64(got) == n.Pages, fmt.Sprint(got, err)
	}, w)
	w.drain()
	cat := func(code int, identities ...string) (rs []messages.Record) {
		t.Helper()
		args := []string{"cat", out}
		for _, id := range identities {
			args = append(args, "--identity", id)
		}
		run := runSeine(t, args...)
		run.expect(code)
		for line := range strings.Lines(run.stdout.String()) {
			var r messages.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			rs = append(rs, r)
		}
		return rs
	}
	wantPages(t, cat(0, keys...), site.pages)
	cat(1, keys[0])
	cat(1, keys[1])
	wantOutput(t, runSeine(t, "verify", out), "all as committed")
}

// wantLeft checks that some pages have not been requested yet.
func (m *manyHosts) wantLeft(t *testing.T) {
	t.Helper()
	if n := m.served(); n > len(m.pages)*19/20 {
		t.Errorf("%d of %d pages were fetched before the last process was replaced: the web is too small for this test", n, len(m.pages))
	}
}

// wantGaps checks that no host got a request before the delay had passed.
func (m *manyHosts) wantGaps(t *testing.T, delay time.Duration) {
	t.Helper()
	for h := range m.Hosts() {
		if gap := m.MinGap(h); gap < delay {
			t.Errorf("%s was asked again after %v, want at least %v", m.Name(h), gap, delay)
		}
	}
}

// more waits until the hosts got n more requests.
func (m *manyHosts) more(t *testing.T, n int, running ...*process) {
	t.Helper()
	n += m.served()
	eventually(t, 2*time.Minute, "fetch more pages", func() (bool, string) { return m.served() >= n, fmt.Sprint(m.served(), " of ", n) }, running...)
}

// served returns the number of requests.
func (m *manyHosts) served() (n int) {
	m.Log().Select(func(*testweb.Request) bool { n++; return false })
	return n
}

// wantNoDeadLetters checks that there never was a dead letter.
func wantNoDeadLetters(t *testing.T, bus *stages.Bus) {
	t.Helper()
	var s jetstream.Stream
	eventually(t, 20*time.Second, "look at DEAD", func() (done bool, saw string) {
		var err error
		s, err = bus.JS.Stream(t.Context(), messages.StreamDead)
		return err == nil, fmt.Sprint(err)
	})
	if n := s.CachedInfo().State.LastSeq; n != 0 {
		t.Errorf("there were %d dead letters", n)
	}
}

// wantArchivedPages waits until the archive has the wanted number of pages.
func wantArchivedPages(t *testing.T, dir string, want int64, running ...*process) {
	t.Helper()
	eventually(t, time.Minute, "archive every page", func() (bool, string) {
		commits, err := readCommits(dir, "archive")
		var n int64
		for _, c := range commits {
			for _, f := range c.Files {
				if f.IndexOf == "" {
					n += int64(f.RecordsOf(messages.KindPage))
				}
			}
		}
		return err == nil && n >= want, fmt.Sprintf("%d of %d pages, %v", n, want, err)
	}, running...)
}

// wantReaders waits until writers have the wanted number of consumers.
func wantReaders(t *testing.T, bus *stages.Bus, want int, running ...*process) {
	t.Helper()
	eventually(t, 2*time.Minute, "have all writers read", func() (bool, string) {
		n := 0
		for _, stream := range []string{messages.StreamPages, messages.StreamRecords} {
			all, err := bus.Consumers(t.Context(), stream)
			if err != nil {
				return false, err.Error()
			}
			for _, c := range all {
				if strings.HasPrefix(c.Config.Durable, messages.ConsumerWriter+"-") {
					n++
				}
			}
		}
		return n == want, fmt.Sprint(n)
	}, running...)
}

// seineUntil runs seine until it succeeds, as a user of a busy server would, and returns its
// output.
func seineUntil(t *testing.T, args ...string) (printed string) {
	t.Helper()
	eventually(t, time.Minute, fmt.Sprintf("%v", args), func() (bool, string) {
		c := seineIn(t, "", nil, args...)
		<-c.gone
		printed = c.stdout.String()
		return c.code() == 0, c.said()
	})
	return printed
}
