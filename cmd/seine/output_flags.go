package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/pkg/stages/writer"
)

// outputFlags select a committed output in commands that read it.
type outputFlags struct {
	Writer string         `help:"Name of the writer, if several writers share the output." placeholder:"NAME"`
	S3     bucket.Options `embed:"" prefix:"s3-"`
}

// open returns the output in a directory or in S3. It rejects a writer that has committed nothing
// there: otherwise any check of nothing would succeed.
func (p *outputFlags) open(out string) (output.Output, error) {
	o, err := p.openOf(p.Writer, out)
	if err == nil && p.Writer != "" {
		if err = p.checkWriter(out); err != nil {
			_ = o.Close() // it was only read
		}
	}
	return o, err
}

// checkWriter returns an error if the writer has no log in an output.
func (p *outputFlags) checkWriter(out string) error {
	names, err := writer.OutputWriters(out, p.s3(out))
	switch {
	case err != nil || slices.Contains(names, p.Writer):
		return err
	case len(names) == 0:
		return fmt.Errorf("%s: %w", writer.Redact(out), output.ErrNoLog)
	}
	return usageError{fmt.Errorf("--writer %s: has no commits in %s; %s", p.Writer, writer.Redact(out), listed(p.Writer, names))}
}

// s3 returns the S3 options of an output, none if it is not in S3.
func (p *outputFlags) s3(out string) bucket.Options {
	if bucket.Is(out) {
		return p.S3
	}
	return bucket.Options{}
}

// openOf is open for a writer that may have committed nothing yet.
func (p *outputFlags) openOf(name, out string) (output.Output, error) {
	if err := checkPath(out); err != nil {
		return output.Output{}, usageError{err}
	}
	o, err := writer.OpenOutput(out, name, p.s3(out))
	if errors.Is(err, fs.ErrNotExist) {
		err = usageError{err}
	}
	return o, err
}

// find returns the output that a folder is in, or is, and the folder's path relative to the output.
// The error is output.ErrNoLog if there is none.
func (p *outputFlags) find(folder string) (o output.Output, below string, err error) {
	up := filepath.Dir
	if bucket.Is(folder) {
		folder = strings.TrimRight(folder, "/")
		up = func(s string) string { return bucket.Scheme + path.Dir(strings.TrimPrefix(s, bucket.Scheme)) }
	} else if folder, err = filepath.Abs(folder); err != nil {
		return o, "", err
	}
	for at := folder; ; {
		o, err = p.open(at)
		if err == nil {
			return o, strings.TrimPrefix(filepath.ToSlash(folder[len(at):]), "/"), nil
		}
		next := up(at)
		if !errors.Is(err, output.ErrNoLog) || next == at || next == bucket.Scheme+"." {
			return o, "", err
		}
		at = next
	}
}

// identities are the private keys for decryption.
type identities struct {
	Identity []string `short:"i" help:"File of an age or SSH private key, to decrypt the output. Repeatable." sep:"none" placeholder:"FILE"`
}

func (i *identities) read() (ageencrypt.Identities, error) {
	ids, err := ageencrypt.ReadIdentities(i.Identity)
	if err != nil {
		return ids, usageError{err}
	}
	return ids, nil
}

// checkPath returns an error if a local path does not exist.
func checkPath(p string) error {
	if bucket.Is(p) || writer.IsDatabase(p) {
		return nil
	}
	_, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or directory: name the --out of a crawl, by default ./seine-out", p)
	}
	return err
}
