package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seine/internal/base/safeprint"
	"seine/internal/ops/overview"
	"seine/internal/run/completion"
	"seine/internal/run/config"
)

type shellCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help is shown below the list of flags.
func (c *shellCmd) Help() string {
	return `Examples:

  echo 'source <(seine completion bash)' >> ~/.bashrc
  echo 'source <(seine completion zsh)' >> ~/.zshrc              # after compinit
  seine completion fish > ~/.config/fish/completions/seine.fish

The script completes commands, flags, values and files. It completes names of crawls if SEINE_NATS_URL names a server.`
}

// Run prints the script.
func (c *shellCmd) Run() error {
	safeprint.Fprint(os.Stdout, safeprint.Trusted(completion.Scripts[c.Shell]))
	return nil
}

// complete prints completions for a shell.
func complete(parser *kong.Kong, words []string) {
	a := completion.Complete(parser.Model.Node, words)
	if a.Kind == completion.Crawls {
		last := words[len(words)-1]
		a.Kind = completion.Words
		if flag, value, cut := strings.Cut(last, "="); cut {
			a.Words = crawlWords(flag+"=", value)
		} else {
			a.Words = crawlWords("", last)
		}
	}
	completion.Print(os.Stdout, a)
}

// nameTime limits how long completion waits for names.
const nameTime = time.Second

// crawlWords returns the crawls whose names begin with begin, as words with the prefix before. It
// returns none if NATS does not answer.
func crawlWords(before, begin string) (words []completion.Word) {
	var c struct{ connection }
	parser, err := config.New(&c, "seine", "")
	if err != nil {
		return nil
	}
	if _, err := parser.Parse(nil); err != nil || c.Validate() != nil {
		return nil
	}
	bus, err := c.Dial("seine-completion", slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer bus.Close()
	ctx, cancel := context.WithTimeout(context.Background(), nameTime)
	defer cancel()
	names, err := overview.Names(ctx, bus)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, begin) {
			words = append(words, completion.Word{Text: before + name, About: "crawl"})
		}
	}
	return words
}
