// Package setup creates and maintains the files of a locked-down NATS server and its users: a
// certificate authority, certificates, keys and configuration, in one directory that only its owner
// can read.
package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nats-io/nkeys"
	"go.yaml.in/yaml/v4"

	conf "seine/deploy/nats"
	"seine/internal/base/filelock"
	"seine/internal/run/roles"
	"seine/pkg/messages"
)

// Site is the description of an installation in installation.yaml.
type Site struct {
	URL        string   `yaml:"url"`        // server URL for clients
	Listen     string   `yaml:"listen"`     // listen address of the server
	Hosts      []string `yaml:"hosts"`      // names and addresses in its certificate
	Monitoring string   `yaml:"monitoring"` // address of /healthz and other monitoring endpoints
	StoreDir   string   `yaml:"store_dir"`  // of its streams
	// ServerDir is the path of the directory server/ on the server; "" if it is the same.
	ServerDir  string                `yaml:"server_dir"`
	Partitions int                   `yaml:"partitions"`
	Chain      bool                  `yaml:"chain"` // fetchers run with --chain
	Writers    []roles.Writer        `yaml:"writers"`
	Feeders    []roles.SeedPublisher `yaml:"feeders"`
}

func (s *Site) installation() *roles.Installation {
	return &roles.Installation{Partitions: s.Partitions, Chain: s.Chain, Writers: s.Writers, Feeders: s.Feeders}
}

// siteFile is created once and then only read: its owner edits it.
const siteFile = "installation.yaml"

const firstSite = `# An installation of Seine's locked-down NATS. Change it, then run natsusers again.
url: tls://localhost:4222          # server URL for clients
listen: 127.0.0.1:4222             # listen address of the server
hosts: [localhost, 127.0.0.1, "::1"]   # names and addresses in its certificate
monitoring: 127.0.0.1:8222         # address of /healthz and /varz; without authentication: keep it on loopback
store_dir: ./nats                  # directory of the streams
server_dir: ""                     # path of server/ on the server, if different: /etc/nats in a container
partitions: 16                     # value of the frontier's --partitions
chain: false                       # true if fetchers run with --chain: they also parse
writers:
  - {name: default, from: records} # more: {name: archive, from: pages}
feeders:                           # programs that may add seeds to these crawls ("*": all) and, with spec: true, set their specs
  - {name: feeder, crawls: [default], spec: false}
`

// Result lists the changes of Run.
type Result struct {
	Made   []string // new files and users
	Nobody []string // directories of users that no longer exist
}

// Run creates missing files in dir and regenerates the configuration. It keeps existing keys, and
// certificates that do not expire soon. A lock serializes runs.
func Run(dir string) (r *Result, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find %s: %w", dir, err)
	}
	r = new(Result)
	if err := r.folder(dir); err != nil {
		return nil, err
	}
	err = filelock.With(filepath.Join(dir, ".lock"), func() error { return r.run(dir) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Result) run(dir string) error {
	site, err := r.site(filepath.Join(dir, siteFile))
	if err != nil {
		return err
	}
	ca, err := r.authority(filepath.Join(dir, "ca"))
	if err != nil {
		return err
	}
	if err := r.users(dir, site, ca); err != nil {
		return err
	}
	r.Nobody, err = orphans(filepath.Join(dir, "users"), site.installation())
	return err
}

func (r *Result) site(name string) (*Site, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(firstSite)
		err = r.write(name, text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the installation: %w", err)
	}
	s := &Site{Partitions: messages.DefaultPartitions, Writers: []roles.Writer{{Name: "default", From: "records"}}}
	if err := yaml.Load(text, s, yaml.WithKnownFields(true)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.URL == "" || s.Listen == "" || s.Monitoring == "" || s.StoreDir == "" || len(s.Hosts) == 0 {
		return nil, fmt.Errorf("%s: url, listen, hosts, monitoring and store_dir are required", name)
	}
	if err := s.installation().Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// users creates the directories of the server and of all users, and the configuration.
func (r *Result) users(dir string, site *Site, ca *authority) error {
	in := site.installation()
	server := filepath.Join(dir, "server")
	if err := r.identity(server, ca, "nats-server", site.Hosts); err != nil {
		return err
	}
	keys := make(map[string]string)
	for _, role := range in.All() {
		at := filepath.Join(dir, "users", role.Name)
		if err := r.identity(at, ca, role.Name, nil); err != nil {
			return err
		}
		public, err := r.nkey(filepath.Join(at, "user.nk"))
		if err != nil {
			return err
		}
		keys[role.Name] = public
		if err := r.context(at, site, role); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"nats-server.conf": conf.Locked, "site.conf": site.conf(server), "roles.conf": in.RolesConf(), "users.conf": in.UsersConf(keys),
	} {
		if err := r.write(filepath.Join(server, name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// conf returns the part of the server's configuration that is specific to the machine.
func (s *Site) conf(server string) string {
	if s.ServerDir != "" {
		server = s.ServerDir
	}
	return fmt.Sprintf("SITE_LISTEN: %s\nSITE_MONITORING: %s\nSITE_STORE_DIR: %s\nSITE_CERT: %s\nSITE_KEY: %s\nSITE_CA: %s\n",
		strconv.Quote(s.Listen), strconv.Quote(s.Monitoring), strconv.Quote(s.StoreDir),
		strconv.Quote(filepath.Join(server, certFile)), strconv.Quote(filepath.Join(server, keyFile)), strconv.Quote(filepath.Join(server, caFile)))
}

// nkey returns the public key of a user. It creates the user's seed if there is none.
func (r *Result) nkey(name string) (public string, err error) {
	seed, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		user, err := nkeys.CreateUser()
		if err != nil {
			return "", fmt.Errorf("make a key: %w", err)
		}
		if seed, err = user.Seed(); err != nil {
			return "", fmt.Errorf("make a key: %w", err)
		}
		if err := r.write(name, append(seed, '\n')); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	user, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err == nil {
		public, err = user.PublicKey()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w (remove the file and run natsusers again to create a new key)", name, err)
	}
	return public, nil
}

// context writes the NATS context of a user. File names are relative to the context's directory.
func (r *Result) context(at string, site *Site, role roles.Role) error {
	text, err := json.MarshalIndent(map[string]string{
		"description": "Seine: " + role.About, "url": site.URL, "nkey": "user.nk",
		"cert": certFile, "key": keyFile, "ca": caFile, "inbox_prefix": roles.Inboxes(role.Name),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode context: %w", err)
	}
	return r.write(filepath.Join(at, "context.json"), append(text, '\n'))
}

// orphans lists directories in users that belong to no user.
func orphans(users string, in *roles.Installation) (found []string, err error) {
	entries, err := os.ReadDir(users)
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	for _, e := range entries {
		if !slices.ContainsFunc(in.All(), func(r roles.Role) bool { return r.Name == e.Name() }) {
			found = append(found, filepath.Join(users, e.Name()))
		}
	}
	return found, nil
}
