package check

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"
	apps "k8s.io/api/apps/v1"

	"seine/internal/run/connect"
	"seine/internal/run/process"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/parser"
	"seine/pkg/stages/writer"
)

// binaries is the folder of the commands, where `make build` has them too.
const binaries = Root + "/bin"

var built = sync.OnceValue(func() error { return Binaries(binaries) })

// helps ask each command once.
var helps = func() map[string]func() ([]Flag, error) {
	all := make(map[string]func() ([]Flag, error))
	for _, c := range Components {
		all[c] = sync.OnceValues(func() ([]Flag, error) { return Flags(binaries, c) })
	}
	return all
}()

// variables are the variables that a component's command knows.
func variables(t *testing.T, component string) map[string]Flag {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	flags, err := helps[component]()
	if err != nil {
		t.Fatal(err)
	}
	if len(flags) < 15 {
		t.Fatalf("%s: the help was not understood: %v", component, flags)
	}
	known := make(map[string]Flag)
	for _, f := range flags {
		known[f.Env] = f
	}
	return known
}

// Every variable SEINE_… of a container is an option of its command, and so is every flag.
func TestVariablesAreOptionsOfTheCommand(t *testing.T) {
	each(t, func(t *testing.T, all []object) {
		for _, w := range workloads(all) {
			if w.component() == "" {
				continue
			}
			known := variables(t, w.component())
			for name := range w.environment() {
				if _, ok := known[name]; !ok && strings.HasPrefix(name, "SEINE_") {
					t.Errorf("%s knows no %s", w.component(), name)
				}
			}
			for _, arg := range w.pod.Spec.Containers[0].Args {
				flag, _, isFlag := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				if isFlag && !slices.ContainsFunc(slices.Collect(maps.Values(known)), func(f Flag) bool { return f.Name == flag }) {
					t.Errorf("%s knows no --%s", w.component(), flag)
				}
			}
		}
	})
}

// Values name options as the help does, whatever rule makes variables of them.
func TestEveryOptionOfTheSchemaHasItsVariable(t *testing.T) {
	for _, c := range Components {
		for _, f := range variables(t, c) {
			if want := "SEINE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")); Settable(c, f.Name) && f.Env != want {
				t.Errorf("%s --%s is %s: the chart would write %s", c, f.Name, f.Env, want)
			}
		}
	}
}

// Lists are what the commands take more than once.
func TestListsAreRepeatable(t *testing.T) {
	var options struct {
		process.Common
		Frontier frontier.Config `embed:"" prefix:"frontier-"`
		Fetcher  fetcher.Config  `embed:"" prefix:"fetcher-"`
		Parser   parser.Config   `embed:"" prefix:"parser-"`
		Writer   writer.Config   `embed:"" prefix:"writer-"`
	}
	k, err := kong.New(&options)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range k.Model.Flags {
		if f.IsSlice() {
			_, name, _ := strings.Cut(f.Name, "-")
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if want := slices.Sorted(slices.Values(Lists)); !slices.Equal(found, want) {
		t.Errorf("repeatable are %v, and the chart knows %v", found, want)
	}
}

// What the values say of the frontier's streams fits the NATS server that comes with them.
func TestStreamsFitTheServer(t *testing.T) {
	env := make(map[string]string)
	for _, w := range workloads(rendered(t, `{}`)) {
		if w.component() == "frontier" {
			env = w.environment()
		}
	}
	c := frontier.DefaultConfig()
	for name, to := range map[string]*crawlspec.Bytes{
		"SEINE_URLS_BYTES": &c.URLsBytes, "SEINE_PAGES_BYTES": &c.PagesBytes, "SEINE_RECORDS_BYTES": &c.RecordsBytes, "SEINE_SNAPSHOT_BYTES": &c.SnapshotBytes,
	} {
		if err := to.UnmarshalText([]byte(env[name])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const robots = 256 << 20 // messages.KeyValues
	sum := c.SeedsBytes + c.URLsBytes + c.ResultsBytes + c.PagesBytes + c.RecordsBytes + c.DeadBytes + c.SnapshotBytes + c.BodiesBytes + robots
	if most := crawlspec.Bytes(16 << 30); sum > most || sum < most/2 {
		t.Errorf("streams may take %s of %s", sum, most)
	}
}

// A pod that is as busy as can be holds fewer messages than the lag at which there would be one more.
func TestLagOfAPodIsMoreThanItHolds(t *testing.T) {
	f, p := fetcher.DefaultConfig(), parser.DefaultConfig()
	if held := f.Workers + f.Prefetch; held >= 128 {
		t.Errorf("a fetcher holds %d", held)
	}
	const processors = 2 // the limit of CPU
	if held := 2*processors + p.Prefetch; held >= 512 {
		t.Errorf("a parser holds %d", held)
	}
}

// Options of numbers are written in full, lists as flags.
func TestOptionsAreWrittenAsFlagsTakeThem(t *testing.T) {
	all := rendered(t, Cases["everything"])
	frontier := workload{object: named[*apps.StatefulSet](t, all, "seine-frontier")}
	for _, w := range workloads(all) {
		if w.object == frontier.object {
			if got := w.environment()["SEINE_HOSTS"]; got != "2000000" {
				t.Errorf("hosts: %q", got)
			}
		}
		if args := w.pod.Spec.Containers[0].Args; w.component() == "fetcher" && !slices.Equal(args, []string{"--accept=text/html", "--accept=application/pdf", "--resolver=10.0.0.53:53", "--resolver=10.0.1.53:53"}) {
			t.Errorf("flags of the fetcher: %q", args)
		}
	}
}

// Which way to log in a container is told, the command knows and accepts.
func TestLoginsAreWhatTheCommandsTake(t *testing.T) {
	for login, want := range map[string]connect.Options{
		"none": {NATS: "nats://n:4222"}, "users": {Context: "/etc/seine/nats/context.json"}, "creds": {NATS: "nats://n:4222", Creds: "/etc/seine/nats/nats.creds"},
		"nkey": {NATS: "nats://n:4222", NKey: "/etc/seine/nats/user.nk"}, "password": {NATS: "nats://n:4222", User: "secret", Password: "/etc/seine/nats/password"},
		"token": {NATS: "nats://n:4222", Token: "/etc/seine/nats/token"},
	} {
		for _, w := range workloads(rendered(t, "nats: {enabled: false}\nnatsServer: {url: 'nats://n:4222', login: "+login+"}\nserve: {enabled: true}")) {
			env := w.environment()
			got := connect.Options{
				NATS: env["SEINE_NATS_URL"], Context: env["SEINE_NATS_CONTEXT"], Creds: env["SEINE_NATS_CREDS"], NKey: env["SEINE_NATS_NKEY"],
				User: env["SEINE_NATS_USER"], Password: env["SEINE_NATS_PASSWORD_FILE"], Token: env["SEINE_NATS_TOKEN_FILE"],
			}
			if got != want {
				t.Errorf("%s, login %s: %+v", &w, login, got)
			}
		}
	}
}
