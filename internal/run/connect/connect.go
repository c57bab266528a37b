// Package connect connects commands to NATS. All commands share its options, environment variables
// and files.
package connect

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"

	"seine/pkg/stages"
)

// Options select the NATS server and the user. Secrets are read from files, because other users of
// the machine can see the values of flags.
type Options struct {
	NATS     string `basic:"" group:"nats" name:"nats" help:"URL of the NATS server, or several URLs separated by commas. Without it, seine commands use the directory of --data; stages use nats://127.0.0.1:4222." env:"SEINE_NATS_URL" placeholder:"URL"`
	Context  string `basic:"" group:"nats" name:"nats-context" help:"NATS context with server and credentials: a name, a file, or a directory that the command natsusers made. \"selected\" is the current context of the nats CLI." placeholder:"NAME|FILE"`
	Creds    string `group:"nats" name:"nats-creds" help:"File with a JWT and its key (.creds)." placeholder:"FILE"`
	NKey     string `group:"nats" name:"nats-nkey" help:"File with an NKEY seed." placeholder:"FILE"`
	User     string `group:"nats" name:"nats-user" help:"User name." placeholder:"NAME"`
	Password string `group:"nats" name:"nats-password-file" help:"File with the password of --nats-user." placeholder:"FILE"`
	Token    string `group:"nats" name:"nats-token-file" help:"File with a token." placeholder:"FILE"`
	CA       string `group:"nats" name:"nats-ca" help:"CA certificates (PEM) to verify the server with (default: the system's)." placeholder:"FILE"`
	Cert     string `group:"nats" name:"nats-cert" help:"Client certificate (PEM)." placeholder:"FILE"`
	Key      string `group:"nats" name:"nats-key" help:"Private key of the client certificate (PEM)." placeholder:"FILE"`
	Inbox    string `group:"nats" name:"nats-inbox-prefix" help:"Subject prefix for replies, if the server separates the inboxes of users (default _INBOX)." placeholder:"PREFIX"`

	context *natscontext.Context // the context that was read, nil for none
	token   string               // token of the context
}

// Default is the default address of NATS.
const Default = "nats://127.0.0.1:4222"

// SelectedContext stands for the current context of the nats CLI.
const SelectedContext = "selected"

// Validate returns an error that names the invalid option and the valid values.
func (o *Options) Validate() error {
	for flag, file := range map[string]string{
		"--nats-creds": o.Creds, "--nats-nkey": o.NKey, "--nats-password-file": o.Password, "--nats-token-file": o.Token,
		"--nats-ca": o.CA, "--nats-cert": o.Cert, "--nats-key": o.Key,
	} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	ways := 0
	for _, way := range []string{o.Creds, o.NKey, o.User, o.Token} {
		if way != "" {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("give one of --nats-creds, --nats-nkey, --nats-user and --nats-token-file: a client is one user")
	case (o.User == "") != (o.Password == ""):
		return errors.New("--nats-user and --nats-password-file go together")
	case (o.Cert == "") != (o.Key == ""):
		return errors.New("--nats-cert and --nats-key go together")
	case o.Context != "" && o.withoutContext() != Options{}:
		return errors.New("--nats-context has the server and the user: leave out --nats and the other --nats-… flags")
	case strings.ContainsAny(o.Inbox, "*> \t") || strings.HasSuffix(o.Inbox, "."):
		return fmt.Errorf("--nats-inbox-prefix %q: must be a subject without wildcards, such as _INBOX_fetcher", o.Inbox)
	}
	return o.checkURLs()
}

// withoutContext returns the options without the context.
func (o *Options) withoutContext() Options {
	others := *o
	others.Context = ""
	return others
}

// Given reports whether the options name a server.
func (o *Options) Given() bool { return o.NATS != "" || o.Context != "" }

func (o *Options) checkURLs() error {
	for one := range strings.SplitSeq(o.NATS, ",") {
		if one = strings.TrimSpace(one); one == "" || !strings.Contains(one, "://") {
			continue // a host without a scheme is valid
		}
		u, err := url.Parse(one)
		switch {
		case err != nil:
			return errors.New("--nats: must be a URL such as nats://127.0.0.1:4222") // without the value, which may contain a password
		case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
			return fmt.Errorf("--nats %s: must begin with nats://, tls://, ws:// or wss://", u.Redacted())
		}
	}
	return nil
}

// Dial connects to the server; name is the name of the client.
func (o *Options) Dial(name string, log *slog.Logger) (*stages.Bus, error) {
	if o.Context != "" {
		read := knownContext
		if isFile(o.Context) {
			read = ReadContext
		}
		in, err := read(o.Context)
		if err != nil {
			return nil, fmt.Errorf("--nats-context: %w", err)
		}
		return in.Dial(name, log)
	}
	if o.context != nil {
		opts, err := o.context.NATSOptions()
		if err != nil {
			return nil, fmt.Errorf("--nats-context: %w", err)
		}
		return stages.DialPrefix(o.NATS, apiPrefix(o.context), name, log, opts...)
	}
	opts, err := o.options()
	if err != nil {
		return nil, err
	}
	return stages.Dial(cmp.Or(o.NATS, Default), name, log, opts...)
}

func (o *Options) options() (opts []nats.Option, err error) {
	switch {
	case o.Creds != "":
		opts = append(opts, nats.UserCredentials(o.Creds))
	case o.NKey != "":
		nkey, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, fmt.Errorf("--nats-nkey %s: %w", o.NKey, err)
		}
		opts = append(opts, nkey)
	case o.User != "":
		password, err := secret("--nats-password-file", o.Password)
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.UserInfo(o.User, password))
	case o.Token != "":
		token, err := secret("--nats-token-file", o.Token)
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.Token(token))
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		opts = append(opts, nats.ClientCert(o.Cert, o.Key))
	}
	if o.Inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(o.Inbox))
	}
	return opts, nil
}

// secret reads a file that contains one secret.
func secret(flag, file string) (string, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	s := strings.TrimRight(string(text), "\r\n")
	if s == "" {
		return "", fmt.Errorf("%s %s: is empty", flag, file)
	}
	return s, nil
}
