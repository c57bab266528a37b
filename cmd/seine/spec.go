package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"seine/internal/base/safeprint"
	"seine/internal/fetch/secrets"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
)

type specCmd struct {
	Check  specCheckCmd  `cmd:"" help:"Check specs and print all their errors."`
	Schema specSchemaCmd `cmd:"" help:"Print the JSON Schema of specs, for editors."`
	Apply  specApplyCmd  `cmd:"" help:"Set the spec of a crawl, running or not."`
	Get    specGetCmd    `cmd:"" help:"Print the spec of a crawl."`
	List   specListCmd   `cmd:"" help:"List crawls and their specs."`
	Diff   specDiffCmd   `cmd:"" help:"Show what a spec would change."`
}

type specCheckCmd struct {
	Files []string `arg:"" name:"file" help:"Specs (YAML); - reads standard input."`
	Quiet bool     `short:"q" help:"Print only errors."`
}

// Help is shown below the list of flags.
func (c *specCheckCmd) Help() string {
	return `Prints errors to standard error as FILE:LINE:COLUMN: KEY: error, with a correction.

  seine spec check news.yaml shop.yaml

Exit codes: 0 all specs are valid, 2 a spec is invalid or cannot be read.`
}

// Run checks all files, even after an error in one.
func (c *specCheckCmd) Run() error {
	wrong := false
	for _, name := range c.Files {
		spec, err := readSpec(name, io.Discard)
		broken, isSpec := errors.AsType[*specfile.Errors](err)
		wrong = wrong || err != nil
		switch {
		case isSpec:
			tellSpec(os.Stderr, "", broken)
		case err != nil:
			tell(os.Stderr, err)
		case !c.Quiet:
			safeprint.Printf("%s: ok\n", name)
			writeSummary(os.Stdout, spec)
			warnOfSecrets(os.Stdout, spec)
			warnOfIneffective(os.Stdout, spec)
		}
	}
	if wrong {
		return endError(exitUsage)
	}
	return nil
}

// warnOfIneffective prints the settings of a spec that have no effect.
func warnOfIneffective(w io.Writer, s *crawlspec.Spec) {
	for _, text := range s.Ineffective() {
		safeprint.Fprintf(w, "  %-9s %s\n", "warning", text)
	}
}

// warnOfSecrets prints the secrets of a spec, of those known here, that would be stored if a site
// prints them.
func warnOfSecrets(w io.Writer, s *crawlspec.Spec) {
	for _, name := range s.Secrets() {
		if v, err := (secrets.Store{}).Get(name); err == nil && !secrets.Maskable(v) {
			safeprint.Fprintf(w, "  %-9s secret %s is too short or too common to be redacted: if a site prints it, it is stored\n", "warning", name)
		}
	}
}

// readSpec reads the spec in a file or on standard input, and copies its text.
func readSpec(name string, text io.Writer) (*crawlspec.Spec, error) {
	if name == "-" {
		return specfile.ReadFrom("<stdin>", io.TeeReader(os.Stdin, text))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read spec: %w", err)
	}
	defer f.Close()
	return specfile.ReadFrom(name, io.TeeReader(f, text))
}

type specSchemaCmd struct{}

// Help is shown below the list of flags.
func (specSchemaCmd) Help() string {
	return `Editors with the YAML language server complete and check a spec that begins with

  # yaml-language-server: $schema=spec.schema.json

To create that file, run:

  seine spec schema > spec.schema.json`
}

// Run prints the schema.
func (specSchemaCmd) Run() error {
	_, err := dataOut().Write(specfile.Schema)
	return err
}

// tell prints an error; for an invalid spec with its source lines on a terminal.
func tell(w *os.File, err error) {
	if broken, ok := errors.AsType[*specfile.Errors](err); ok {
		tellSpec(w, "seine: ", broken)
		return
	}
	safeprint.Fprintf(w, "seine: %v%s\n", err, ofDisk(err))
}

// ofDisk returns a remedy for a directory that cannot be written.
func ofDisk(err error) string {
	if _, ok := errors.AsType[*fs.PathError](err); !ok {
		return ""
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return ": free some space, or name a directory on another disk"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ": let this user write there, or name another directory"
	}
	return ""
}

// tellSpec prints the errors of a spec: with source lines on a terminal, otherwise one per line
// with a prefix.
func tellSpec(w *os.File, before string, broken *specfile.Errors) {
	if isTerminal(w) {
		broken.Write(w, colours(w))
		return
	}
	for line := range strings.Lines(broken.Error() + "\n") {
		safeprint.Fprintf(w, "%s%s\n", before, strings.TrimSuffix(line, "\n"))
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// colours reports whether to colour the output: on a terminal, unless the user disables it
// (no-color.org).
func colours(f *os.File) bool { return isTerminal(f) && os.Getenv("NO_COLOR") == "" }
