package roles_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"seine/internal/run/connect"
	"seine/internal/run/roles"
	"seine/internal/run/roles/setup"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

var update = flag.Bool("update", false, "write the table anew")

// some returns an installation with a user of each kind.
func some() roles.Installation {
	return roles.Installation{
		Partitions: 2,
		Writers:    []roles.Writer{{Name: "default", From: "records"}, {Name: "archive", From: "pages"}},
		Feeders:    []roles.SeedPublisher{{Name: "feeder", Crawls: []string{"news"}}, {Name: "owner", Crawls: []string{"shop"}, Spec: true}},
	}
}

const someSite = `
url: tls://127.0.0.1:1
listen: 127.0.0.1:-1
hosts: [127.0.0.1]
monitoring: 127.0.0.1:-1
store_dir: STORE
server_dir: ""
partitions: 2
writers: [{name: default, from: records}, {name: archive, from: pages}]
feeders: [{name: feeder, crawls: [news]}, {name: owner, crawls: [shop], spec: true}]
`

// bus is a locked-down server with its users.
type bus struct {
	url   string
	users string
}

func start(t *testing.T) bus { return startSite(t, someSite) }

func startSite(t *testing.T, site string) bus {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(strings.Replace(site, "STORE", t.TempDir(), 1)), 0o600))
	_, err := setup.Run(dir)
	check(t, err)
	opts, err := server.ProcessConfigFile(filepath.Join(dir, "server", "nats-server.conf"))
	check(t, err)
	opts.NoSigs, opts.NoLog = true, true
	s := natstest.Start(t, opts)
	return bus{"tls://" + s.Addr().String(), filepath.Join(dir, "users")}
}

func (b bus) options(t *testing.T, user string) *connect.Options {
	t.Helper()
	o, err := connect.ReadContext(filepath.Join(b.users, user, "context.json"))
	check(t, err)
	o.NATS = b.url
	return o
}

func (b bus) dial(t *testing.T, user string) *stages.Bus {
	t.Helper()
	c, err := b.options(t, user).Dial("test", slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(c.Close)
	return c
}

// refusals collects the operations that a server refuses to a client.
type refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

func collect(nc *nats.Conn) *refusals {
	r := &refusals{all: make(map[string]bool)}
	quoted := regexp.MustCompile(`"([^"]+)"`)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if m := quoted.FindStringSubmatch(err.Error()); m != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all[m[1]] = true
		}
	})
	return r
}

// The server allows each user to publish and subscribe as the table says, and nothing that the
// table allows only to others.
func TestServerKeepsToTheTable(t *testing.T) {
	t.Parallel()
	chained := some()
	chained.Chain = true
	t.Run("each stage in its processes", func(t *testing.T) { testServerKeepsToTheTable(t, start(t), some()) })
	t.Run("fetchers that parse", func(t *testing.T) { testServerKeepsToTheTable(t, startSite(t, someSite+"chain: true\n"), chained) })
}

func testServerKeepsToTheTable(t *testing.T, b bus, in roles.Installation) {
	t.Parallel()
	all := in.All()
	var published, subscribed []string
	for _, r := range all {
		published, subscribed = append(published, examples(r.Publish)...), append(subscribed, examples(r.Subscribe)...)
	}
	published = append(published, "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$JS.API.ACCOUNT.PURGE.SEINE",
		"$JS.API.STREAM.DELETE.PAGES", "$JS.API.STREAM.SNAPSHOT.PAGES", "$JS.API.SERVER.REMOVE", "seine.other", "_INBOX.x", "_INBOX_frontier.x")
	subscribed = append(subscribed, "$SYS.>", "$JS.>", "$JS.EVENT.ADVISORY.>", "$KV.>", "seine.>", "seine.pages.>", ">", "_INBOX.>", "_INBOX_frontier.>")
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			c := b.dial(t, r.Name)
			c.Close()
			nc := b.dial(t, r.Name).NC
			refused := collect(nc)
			for _, s := range published {
				check(t, nc.Publish(s, nil))
			}
			refused.compare(t, nc, "publish to", published, r.Publish)
			refused = collect(nc)
			for _, s := range subscribed {
				sub, err := nc.SubscribeSync(s)
				check(t, err)
				defer func() { _ = sub.Unsubscribe() }()
			}
			refused.compare(t, nc, "subscribe to", subscribed, r.Subscribe)
		})
	}
}

// compare waits for the server and compares its refusals with the table.
func (r *refusals) compare(t *testing.T, nc *nats.Conn, verb string, subjects []string, grants []roles.Permissions) {
	t.Helper()
	// An additional operation, which is refused or allowed to all, marks the end.
	check(t, nc.Flush())
	deadline := time.Now().Add(10 * time.Second)
	for {
		wrong := r.wrong(verb, subjects, grants)
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s", strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (r *refusals) wrong(verb string, subjects []string, grants []roles.Permissions) (wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range subjects {
		if allowed := allows(grants, s); allowed == r.all[s] {
			wrong = append(wrong, verb+" "+s+": allowed by the table: "+map[bool]string{true: "yes, but refused", false: "no, but not refused"}[allowed])
		}
	}
	return wrong
}

// allows reports whether grants cover a subject.
func allows(grants []roles.Permissions, subject string) bool {
	return slices.ContainsFunc(grants, func(g roles.Permissions) bool {
		return slices.ContainsFunc(g.Subjects, func(allowed string) bool { return server.SubjectsCollide(allowed, subject) && covers(allowed, subject) })
	})
}

// covers reports whether each token of subject is allowed.
func covers(allowed, subject string) bool {
	a, s := strings.Split(allowed, "."), strings.Split(subject, ".")
	for i, token := range a {
		switch {
		case token == ">":
			return len(s) > i
		case i >= len(s) || s[i] == ">":
			return false
		case token != "*" && token != s[i]:
			return false
		}
	}
	return len(a) == len(s)
}

// examples returns subjects that the grants cover.
func examples(grants []roles.Permissions) (all []string) {
	for _, g := range grants {
		for _, s := range g.Subjects {
			if s == ">" {
				continue
			}
			s = strings.ReplaceAll(s, "*", "x")
			if head, ok := strings.CutSuffix(s, ">"); ok {
				s = head + "x.y"
			}
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A certificate without a key, a key without a certificate, and a certificate of a foreign
// authority are all refused.
func TestStrangersAreNotLetIn(t *testing.T) {
	t.Parallel()
	b, other := start(t), t.TempDir()
	_, err := setup.Run(other)
	check(t, err)
	for what, change := range map[string]func(*connect.Options){
		"no key":           func(o *connect.Options) { o.NKey = "" },
		"a stranger's key": func(o *connect.Options) { o.NKey = filepath.Join(other, "users", "viewer", "user.nk") },
		"no certificate":   func(o *connect.Options) { o.Cert, o.Key = "", "" },
		"a stranger's certificate": func(o *connect.Options) {
			o.Cert, o.Key = filepath.Join(other, "users/viewer/cert.pem"), filepath.Join(other, "users/viewer/key.pem")
		},
		"the server's certificate": func(o *connect.Options) {
			o.Cert, o.Key = filepath.Join(b.users, "../server/cert.pem"), filepath.Join(b.users, "../server/key.pem")
		},
		"not asking who is there": func(o *connect.Options) {
			o.NATS = strings.Replace(o.NATS, "tls://", "nats://", 1)
			o.CA, o.Cert, o.Key = "", "", ""
		},
		"a server nobody has heard": func(o *connect.Options) { o.CA = filepath.Join(other, "ca/ca.pem") },
		"":                          func(*connect.Options) {}, // accepted
	} {
		viewer := func(file string) string { return filepath.Join(b.users, "viewer", file) }
		o := &connect.Options{
			NATS: b.url, NKey: viewer("user.nk"), Cert: viewer("cert.pem"), Key: viewer("key.pem"), CA: filepath.Join(b.users, "../ca/ca.pem"), Inbox: "_INBOX_viewer",
		}
		change(o)
		c, err := o.Dial("test", slog.New(slog.DiscardHandler))
		if err == nil {
			c.Close()
		}
		if (err == nil) != (what == "") {
			t.Errorf("with %q: %v", what, err)
		}
	}
}

// A repeated setup changes nothing. Removed keys are re-created, and users that are no longer in
// the installation are removed.
func TestSetupIsDoneOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := setup.Run(dir)
	check(t, err)
	again, err := setup.Run(dir)
	check(t, err)
	if len(again.Made)+len(again.Nobody) > 0 {
		t.Errorf("the second run made %q", again.Made)
	}
	check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = errors.New(path + " is open to others")
		}
		return err
	}))
	text, err := os.ReadFile(filepath.Join(dir, "installation.yaml"))
	check(t, err)
	before, err := os.ReadFile(filepath.Join(dir, "server/users.conf"))
	check(t, err)
	check(t, os.RemoveAll(filepath.Join(dir, "users/fetcher")))
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(strings.Replace(string(text), "name: feeder", "name: other", 1)), 0o600))
	third, err := setup.Run(dir)
	check(t, err)
	if len(third.Nobody) != 1 || filepath.Base(third.Nobody[0]) != "feeder" {
		t.Errorf("users that are none any more: %q", third.Nobody)
	}
	after, err := os.ReadFile(filepath.Join(dir, "server/users.conf"))
	check(t, err)
	if n := len(common(string(before), string(after))); n != 9 { // all but fetcher and feeder
		t.Errorf("%d users have kept their keys:\n%s\n%s", n, before, after)
	}
	for want, change := range map[string]string{
		"partitions: 0": "partitions: 0", "must be records": "writers: [{name: x, from: dead}]", "name at least one": "feeders: [{name: x}]",
		"duplicate user name": "feeders: [{name: parser, crawls: [x]}]", "colour": "colour: red",
	} {
		key, _, _ := strings.Cut(change, ":")
		broken := regexp.MustCompile(`(?ms)^`+key+`:.*?\n(^\S|\z)`).ReplaceAllString(string(text), "$1") + "\n" + change + "\n"
		check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(broken), 0o600))
		if _, err := setup.Run(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// The installation in deploy/README.md is valid as written.
func TestInstallationOfTheDeploymentGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../deploy/README.md")
	check(t, err)
	_, text, _ := strings.Cut(string(guide), "```yaml\nurl: ")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("deploy/README.md has no installation")
	}
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte("url: "+text), 0o600))
	_, err = setup.Run(dir)
	check(t, err)
	for _, user := range []string{"frontier", "fetcher", "renderer", "parser", "writer", "operator"} { // mounted by docker-compose.locked.yml
		if _, err := os.Stat(filepath.Join(dir, "users", user, "context.json")); err != nil {
			t.Error(err)
		}
	}
}

func common(a, b string) (keys []string) {
	for _, k := range regexp.MustCompile(`nkey: (\S+),`).FindAllString(a, -1) {
		if strings.Contains(b, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// A fetcher with a parser has the permissions of both stages.
func TestFetcherThatIsChainedMayParse(t *testing.T) {
	in := some()
	in.Chain = true
	all := make(map[string]roles.Role)
	for _, r := range in.All() {
		all[r.Name] = r
	}
	for _, subject := range examples(all["parser"].Publish) {
		if !allows(all["fetcher"].Publish, subject) {
			t.Errorf("the fetcher may not publish to %s, as the parser may", subject)
		}
	}
}

// The keys that exclude other works are writable only by users that run such works.
func TestWhoMayKeepOtherWorksAway(t *testing.T) {
	in := some()
	may := map[string]bool{"operator": true, "admin": true}
	for _, r := range in.All() {
		if got := allows(r.Publish, "$KV.seine_leases.work.backup.x"); got != may[r.Name] {
			t.Errorf("the %s may write keys of works: %v, want %v", r.Name, got, may[r.Name])
		}
	}
}

// A renderer has the permissions of a fetcher for its own requests and no more: neither can take
// the other's requests.
func TestRendererMayDoWhatAFetcherMay(t *testing.T) {
	in := some()
	all := make(map[string]roles.Role)
	for _, r := range in.All() {
		all[r.Name] = r
	}
	asRenderer := strings.NewReplacer("seine.fetch.", "seine.render.", "seine.dead.fetcher.", "seine.dead.renderer.", ".FETCH.fetcher", ".FETCH.renderer",
		"inflight.fetcher", "inflight.renderer", "held.fetcher", "held.renderer", "seine-fetcher", "seine-renderer", "_INBOX_fetcher", "_INBOX_renderer")
	for _, g := range [][2][]roles.Permissions{{all["fetcher"].Publish, all["renderer"].Publish}, {all["fetcher"].Subscribe, all["renderer"].Subscribe}} {
		var want []string
		for _, subject := range examples(g[0]) {
			want = append(want, asRenderer.Replace(subject))
		}
		slices.Sort(want)
		if got := examples(g[1]); !slices.Equal(got, want) {
			t.Errorf("the renderer may\n%q\nwant\n%q", got, want)
		}
	}
	for user, subject := range map[string]string{
		"renderer": "$JS.API.CONSUMER.MSG.NEXT.FETCH.fetcher", "fetcher": "$JS.API.CONSUMER.MSG.NEXT.FETCH.renderer",
	} {
		if allows(all[user].Publish, subject) {
			t.Errorf("the %s may publish to %s", user, subject)
		}
	}
}

// deploy/nats/roles.md has the table, and deploy/nats/roles.conf the permissions, of the most
// common installation. go test ./internal/run/roles -update writes both.
func TestTableIsUpToDate(t *testing.T) {
	in := roles.Installation{
		Partitions: messages.DefaultPartitions,
		Writers:    []roles.Writer{{Name: "default", From: "records"}},
		Feeders:    []roles.SeedPublisher{{Name: "feeder", Crawls: []string{messages.DefaultCrawl}}},
	}
	conf := filepath.Join("..", "..", "..", "deploy", "nats", "roles.conf")
	doc := filepath.Join("..", "..", "..", "deploy", "nats", "roles.md")
	text, err := os.ReadFile(doc)
	check(t, err)
	head, rest, ok := strings.Cut(string(text), "<!-- table -->\n")
	_, tail, closed := strings.Cut(rest, "<!-- /table -->")
	if !ok || !closed {
		t.Fatal("deploy/nats/roles.md has no place for the table")
	}
	for file, want := range map[string]string{
		conf: in.RolesConf(), doc: head + "<!-- table -->\n" + in.Table() + "<!-- /table -->" + tail,
	} {
		have, err := os.ReadFile(file)
		if err == nil && string(have) == want {
			continue
		}
		if !*update {
			t.Errorf("%s is out of date: go test ./internal/run/roles -run TableIsUpToDate -update", file)
			continue
		}
		check(t, os.WriteFile(file, []byte(want), 0o644))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Concurrent runs create one authority, which signs the certificates of all users.
func TestRunsAtATimeMakeOneInstallation(t *testing.T) {
	dir := t.TempDir()
	var runs sync.WaitGroup
	made := make([]int, 4)
	for i := range made {
		runs.Go(func() {
			r, err := setup.Run(dir)
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = len(r.Made)
		})
	}
	runs.Wait()
	whole := 0
	for _, n := range made {
		if n > 5 {
			whole++
		}
	}
	if whole != 1 {
		t.Errorf("files that each run made: %v; want them made by one run", made)
	}
}
