package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/serve/caller"
	"seine/internal/serve/tokens"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token and print it. It is not shown again."`
	List   tokenListCmd   `cmd:"" help:"List all tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token."`
}

// tokensFile is the flag for the file of tokens.
type tokensFile struct {
	Tokens string `help:"File of tokens, as in seine serve --tokens." default:"./seine-tokens.json" placeholder:"FILE"`
}

type tokenCreateCmd struct {
	Name string `arg:"" help:"Name of the token, as the audit log shows it."`
	tokensFile
	Scope   []string      `help:"Permissions, separated by commas: read, write, scrape, records, secrets, audit." default:"read"`
	Expires time.Duration `help:"Lifetime, such as 720h; 0 never expires." default:"0" placeholder:"TIME"`
}

// Help is shown below the list of flags.
func (c *tokenCreateCmd) Help() string {
	return `Permissions: read (crawls, hosts and URLs), write (start, seed, control and delete crawls), scrape (fetch single pages), records
(read extracted records), secrets (use specs with secrets), audit (read the audit log). No permission includes another. A running
server accepts the token immediately.

  seine token create laptop --scope read
  seine token create pipeline --scope read,write,records --expires 720h`
}

// Run creates a token.
func (c *tokenCreateCmd) Run() error {
	if c.Expires < 0 {
		return usageError{errors.New("--expires: must not be negative; 0 never expires")}
	}
	var scopes []caller.Scope
	for _, s := range c.Scope {
		scopes = append(scopes, caller.Scope(strings.TrimSpace(s)))
	}
	if err := caller.CheckScopes(scopes); err != nil {
		return usageError{fmt.Errorf("--scope: %w", err)}
	}
	secret, err := tokens.Create(c.Tokens, c.Name, scopes, c.Expires)
	if errors.Is(err, tokens.ErrName) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	safeprint.Fprintf(os.Stderr, "token %s, shown this once:\n", c.Name)
	safeprint.Println(secret)
	return nil
}

type tokenListCmd struct{ tokensFile }

// Help is shown below the list of flags.
func (c *tokenListCmd) Help() string { return "Examples:\n\n  seine token list" }

// Run lists the tokens.
func (c *tokenListCmd) Run() error {
	all, err := tokens.Read(c.Tokens)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	safeprint.Fprintf(t, "TOKEN\tSCOPES\tMADE\tEXPIRES\n")
	for i := range all {
		expires := ""
		if !all[i].Expires.IsZero() {
			expires = all[i].Expires.Local().Format(time.DateTime)
		}
		safeprint.Fprintf(t, "%s\t%s\t%s\t%s\n", all[i].Name, caller.Text(all[i].Scopes, ","), all[i].Created.Local().Format(time.DateTime), cmp.Or(expires, "never"))
	}
	return t.Flush()
}

type tokenRevokeCmd struct {
	Name string `arg:"" help:"Name of the token."`
	tokensFile
}

// Help is shown below the list of flags.
func (c *tokenRevokeCmd) Help() string {
	return `A running server rejects the token immediately.

  seine token revoke laptop`
}

// Run revokes a token.
func (c *tokenRevokeCmd) Run() error {
	err := tokens.Revoke(c.Tokens, c.Name)
	if errors.Is(err, tokens.ErrName) {
		return usageError{err}
	}
	if err == nil {
		safeprint.Printf("token %s is revoked\n", c.Name)
	}
	return err
}
