// Package setup makes and keeps what a locked-down NATS server and its users need:
// an authority, certificates, keys and configuration, in one folder that only its
// owner can read.
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

// Site is an installation as its owner describes it, in installation.yaml.
type Site struct {
	URL        string   `yaml:"url"`        // where users find the server
	Listen     string   `yaml:"listen"`     // where it listens
	Hosts      []string `yaml:"hosts"`      // names and addresses that its certificate is for
	Monitoring string   `yaml:"monitoring"` // address of /healthz and the like
	StoreDir   string   `yaml:"store_dir"`  // of its streams
	// ServerDir is where the server sees the folder server/; empty is where it is.
	ServerDir  string                `yaml:"server_dir"`
	Partitions int                   `yaml:"partitions"`
	Chain      bool                  `yaml:"chain"` // fetchers run with --chain
	Writers    []roles.Writer        `yaml:"writers"`
	Feeders    []roles.SeedPublisher `yaml:"feeders"`
}

func (s *Site) installation() *roles.Installation {
	return &roles.Installation{Partitions: s.Partitions, Chain: s.Chain, Writers: s.Writers, Feeders: s.Feeders}
}

// siteFile is written once, and then read: it is its owner's.
const siteFile = "installation.yaml"

const firstSite = `# An installation of Seine's locked-down NATS. Change it, then run natsusers again.
url: tls://localhost:4222          # where users find the server
listen: 127.0.0.1:4222             # where it listens
hosts: [localhost, 127.0.0.1, "::1"]   # names and addresses that its certificate is for
monitoring: 127.0.0.1:8222         # /healthz, /varz: they have no users, so keep them on loopback
store_dir: ./nats                  # of the streams
server_dir: ""                     # where the server sees the folder server/, if elsewhere: /etc/nats in a container
partitions: 16                     # as the frontier's --partitions
chain: false                       # fetchers run with --chain, and so parse too
writers:
  - {name: default, from: records} # more: {name: archive, from: pages}
feeders:                           # programs that may feed some crawls, and give them their spec or not; "*" is all
  - {name: feeder, crawls: [default], spec: false}
`

// Result is what Run did.
type Result struct {
	Made   []string // files and users that are new
	Nobody []string // folders of users that no longer exist
}

// Run makes what is missing in dir, and writes the configuration again. What is there
// stays: keys until they are removed, certificates until they end soon. One Run at a time changes the folder.
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
	r.Nobody, err = nobody(filepath.Join(dir, "users"), site.installation())
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
		return nil, fmt.Errorf("%s: url, listen, hosts, monitoring and store_dir are needed", name)
	}
	if err := s.installation().Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// users makes the server's folder and those of all users, and the configuration.
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

// conf is the part of the server's configuration that is about this machine.
func (s *Site) conf(server string) string {
	if s.ServerDir != "" {
		server = s.ServerDir
	}
	return fmt.Sprintf("SITE_LISTEN: %s\nSITE_MONITORING: %s\nSITE_STORE_DIR: %s\nSITE_CERT: %s\nSITE_KEY: %s\nSITE_CA: %s\n",
		strconv.Quote(s.Listen), strconv.Quote(s.Monitoring), strconv.Quote(s.StoreDir),
		strconv.Quote(filepath.Join(server, certFile)), strconv.Quote(filepath.Join(server, keyFile)), strconv.Quote(filepath.Join(server, caFile)))
}

// nkey returns the public key of a user, and makes the user's seed if there is none.
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
		return "", fmt.Errorf("%s: %w (remove it for a new one)", name, err)
	}
	return public, nil
}

// context writes what a user connects with, in the form of the nats command.
// Files are named as they are seen from the context's own folder.
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

// nobody lists folders in users that belong to no user.
func nobody(users string, in *roles.Installation) (found []string, err error) {
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
