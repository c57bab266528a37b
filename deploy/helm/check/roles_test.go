package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/run/roles/setup"
)

// installation is what natsusers makes for the chart's values of locked servers.
func installation(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "installation.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Run(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

const site = `url: tls://seine-nats:4222
listen: 0.0.0.0:4222
hosts: [seine-nats, localhost]
monitoring: 127.0.0.1:8222
store_dir: /data
writers: [{name: default, from: records}, {name: archive, from: pages}]
`

// Each pod logs in as a user that natsusers makes for its role, by the Secret of that user's folder, whose context has no
// path that leads out of it.
func TestEveryRoleIsAUserOfNatsusers(t *testing.T) {
	dir := installation(t, site)
	for _, w := range workloads(rendered(t, Cases["users"])) {
		var secrets []string
		for _, v := range w.pod.Spec.Volumes {
			if v.Secret != nil {
				secrets = append(secrets, v.Secret.SecretName)
				if *v.Secret.DefaultMode != 0o440 {
					t.Errorf("%s: %s has the mode %o", &w, v.Secret.SecretName, *v.Secret.DefaultMode)
				}
			}
		}
		if len(secrets) == 0 || w.environment()["SEINE_NATS_CONTEXT"] != "/etc/seine/nats/context.json" || w.environment()["SEINE_NATS_URL"] != "" {
			t.Errorf("%s: Secrets %v, %v", &w, secrets, w.environment())
		}
		for _, s := range secrets {
			user, ours := strings.CutPrefix(s, "seine-nats-")
			text, err := os.ReadFile(filepath.Join(dir, "users", user, "context.json"))
			if !ours || err != nil || !strings.Contains(string(text), `"nkey": "user.nk"`) {
				t.Errorf("%s logs in by %s: %v", &w, s, err)
			}
		}
		want := map[string]string{
			"seine-frontier": "frontier", "seine-fetcher": "fetcher", "seine-renderer": "renderer", "seine-parser": "parser",
			"seine-writer": "writer", "seine-writer-archive": "writer-archive", "seine-serve": "viewer",
		}[w.GetName()]
		if secrets[0] != "seine-nats-"+want {
			t.Errorf("%s logs in by %s, want the user %s", &w, secrets[0], want)
		}
	}
}
