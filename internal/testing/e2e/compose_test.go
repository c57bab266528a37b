package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/childproc"
	"seine/internal/testing/freeport"
	"seine/internal/testing/s3server"
	"seine/internal/testing/testweb"
)

// interpolation matches a variable in docker-compose.yml and its default. With a colon the default
// also replaces an empty value.
var interpolation = regexp.MustCompile(`\$\{([A-Z0-9_]+)(:?-)([^}]*)\}`)

// composed returns docker-compose.yml with variables replaced.
func composed(t *testing.T, env map[string]string) compose {
	t.Helper()
	text := interpolation.ReplaceAllStringFunc(readFile(t, "../../../docker-compose.yml"), func(v string) string {
		m := interpolation.FindStringSubmatch(v)
		if value, set := env[m[1]]; set && (value != "" || m[2] == "-") {
			return value
		}
		return m[3]
	})
	var c compose
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// .env.example names the variables that docker-compose.yml uses, with the same defaults.
func TestEnvExampleIsWhatComposeAsksFor(t *testing.T) {
	t.Parallel()
	asked := make(map[string]string)
	for _, m := range interpolation.FindAllStringSubmatch(readFile(t, "../../../docker-compose.yml"), -1) {
		if have, ok := asked[m[1]]; ok && have != m[3] {
			t.Errorf("%s has two defaults: %q and %q", m[1], have, m[3])
		}
		asked[m[1]] = m[3]
	}
	example := readFile(t, "../../../.env.example")
	told := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^([A-Z0-9_]+)=(.*)$`).FindAllStringSubmatch(example, -1) {
		told[m[1]] = m[2]
	}
	if v, ok := told["COMPOSE_PROFILES"]; !ok || v != "" {
		t.Errorf("COMPOSE_PROFILES is %q", v)
	}
	delete(told, "COMPOSE_PROFILES") // for docker compose itself
	if !maps.Equal(asked, told) {
		t.Errorf("docker-compose.yml asks for %v, .env.example has %v", asked, told)
	}
	for name, s := range composed(t, nil).Services {
		for _, p := range s.Profiles {
			if !strings.Contains(example, p+" (") {
				t.Errorf("the profile %s of %s is not explained", p, name)
			}
		}
		if _, tag, _ := strings.Cut(s.Image, ":"); tag == "" || tag == "latest" && !strings.HasPrefix(s.Image, "seine/") {
			t.Errorf("%s runs %s, which is not pinned", name, s.Image)
		}
	}
}

// planOf runs a dry run of the writer in docker-compose.yml.
func planOf(t *testing.T, c compose) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "writer"), "--dry-run")
	for name, value := range c.Services["writer"].Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the writer says: %v, %s", err, said)
	}
	return string(said)
}

// The writer accepts each kind of output in .env.example.
func TestComposeOutputs(t *testing.T) {
	t.Parallel()
	example := readFile(t, "../../../.env.example") + readFile(t, "../../../deploy/README.md")
	told := func(env map[string]string) map[string]string {
		for name, value := range env {
			if strings.Count(example, name+"="+value) < 2 {
				t.Errorf("%s=%s is not told in both places", name, value)
			}
		}
		return env
	}
	if said := planOf(t, composed(t, nil)); !strings.Contains(said, "as jsonl.zst") {
		t.Errorf("by default the writer says: %s", said)
	}
	c := composed(t, told(map[string]string{"COMPOSE_PROFILES": "postgres", "SEINE_OUT": "postgres://seine@postgres/crawls"}))
	if said := planOf(t, c); !strings.Contains(said, "as rows") {
		t.Errorf("with PostgreSQL the writer says: %s", said)
	}
	p, w := c.Services["postgres"].Environment, c.Services["writer"].Environment
	if p["POSTGRES_USER"] != "seine" || p["POSTGRES_DB"] != "crawls" || p["POSTGRES_PASSWORD"] == "" || p["POSTGRES_PASSWORD"] != w["PGPASSWORD"] {
		t.Errorf("the database has %v, the writer %v", p, w)
	}
	env := told(map[string]string{"COMPOSE_PROFILES": "s3", "SEINE_OUT": "s3://crawls/seine", "S3_ENDPOINT": "http://s3:7070", "S3_PATH_STYLE": "true"})
	env["S3_ENDPOINT"] = composeS3(t, composed(t, env))
	if said := planOf(t, composed(t, env)); !strings.Contains(said, "s3://crawls/seine") {
		t.Errorf("with S3 the writer says: %s", said)
	}
}

// The server of docker-compose.yml exits if no token exists. With a token created as
// deploy/README.md says, it is healthy and shows the cluster to clients with the token.
func TestComposeServes(t *testing.T) {
	t.Parallel()
	s := composed(t, nil).Services["serve"]
	c := newCluster(t, shape{})
	site, _ := testSite(t, testweb.Config{PagesPerHost: 1})
	c.begin(c.bus(), "news", quick(), site.seed)
	addr := freeport.Addr(t)
	replaced := strings.NewReplacer("nats://nats:4222", c.url, "0.0.0.0:8077", addr, "127.0.0.1:8077", addr, "0.0.0.0:9400", freeport.Addr(t), "/state", t.TempDir())
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "seine"), args...)
		for name, value := range s.Environment {
			cmd.Env = append(cmd.Env, name+"="+replaced.Replace(value))
		}
		return cmd
	}
	if said, err := run("serve").CombinedOutput(); err == nil || !strings.Contains(string(said), "seine token create") {
		t.Errorf("without a token: %v, %s", err, said)
	}
	secret, err := run("token", "create", "laptop").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := run("serve")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	eventually(t, patience, "be healthy", func() (bool, string) {
		said, err := run("health", replaced.Replace(s.Healthcheck.Test[len(s.Healthcheck.Test)-1])).CombinedOutput()
		return err == nil, string(said)
	})
	for token, want := range map[string]int{"": http.StatusUnauthorized, strings.TrimSpace(string(secret)): http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/api/v1/crawls/news", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("with the token %q: %s", token, resp.Status)
		}
	}
}

// Browsers run without root, capabilities or a disk, in their own sandbox: docker-compose.yml names
// an existing seccomp profile that allows them to create namespaces. An init process reaps their
// processes.
func TestComposeRenderer(t *testing.T) {
	t.Parallel()
	s := composed(t, nil).Services["renderer"]
	if !slices.Equal(s.Profiles, []string{"render"}) || !s.ReadOnly || !s.Init || s.User != "65532:65532" || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.Tmpfs) != 1 {
		t.Errorf("the renderer is %+v", s)
	}
	if len(s.SecurityOpt) != 2 || s.SecurityOpt[0] != "no-new-privileges:true" {
		t.Fatalf("its options are %q", s.SecurityOpt)
	}
	path, _ := strings.CutPrefix(s.SecurityOpt[1], "seccomp:./")
	var profile struct {
		DefaultAction string
		Syscalls      []struct {
			Names  []string
			Action string
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join("../../..", path))), &profile); err != nil {
		t.Fatal(err)
	}
	allowed := make(map[string]bool)
	for _, call := range profile.Syscalls {
		for _, name := range call.Names {
			allowed[name] = call.Action == "SCMP_ACT_ALLOW"
		}
	}
	if profile.DefaultAction != "SCMP_ACT_ERRNO" || allowed["mount"] || allowed["bpf"] || !allowed["clone"] || !allowed["unshare"] || !allowed["chroot"] {
		t.Errorf("the profile allows %v", allowed)
	}
}

// composeS3 starts the S3 server of docker-compose.yml on a free port, checks that it is healthy,
// and returns its address.
func composeS3(t *testing.T, c compose) string {
	t.Helper()
	s := c.Services["s3"]
	dockerfile := readFile(t, "../../../deploy/Dockerfile")
	data := t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^COPY .* /data(/\S*)$`).FindAllStringSubmatch(dockerfile, -1) {
		if err := os.Mkdir(filepath.Join(data, m[1]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if version := regexp.MustCompile(`version=(\S+)`).FindStringSubmatch(readFile(t, "../../../scripts/versitygw")); !strings.Contains(dockerfile, "FROM versity/versitygw:"+version[1]+" AS s3\n") {
		t.Errorf("the S3 server is not that of the tests, %s", version[1])
	}
	addr := freeport.Addr(t)
	replaced := strings.NewReplacer(":7070", addr, "/data", data)
	args := slices.Clone(s.Command)
	for i := range args {
		args[i] = replaced.Replace(args[i])
	}
	cmd := exec.Command(s3server.Program(t), args...)
	cmd.Env = os.Environ()
	for name, value := range s.Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := childproc.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	health := strings.Replace(s.Healthcheck.Test[len(s.Healthcheck.Test)-1], "127.0.0.1:7070", addr, 1)
	eventually(t, patience, "the S3 server is healthy", func() (bool, string) {
		r, err := http.Get(health)
		if err != nil {
			return false, err.Error()
		}
		return r.StatusCode == http.StatusOK && r.Body.Close() == nil, fmt.Sprint(r.Status)
	})
	return "http://" + addr
}
