package writer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// ReadCommits returns the commit log of the writer called name in the directory
// out, by partition and in the order of the commits. There is none before its
// first run.
func ReadCommits(out, name string) ([]Commit, error) {
	var all []Commit
	err := eachCommit(out, name, func(c *Commit) error {
		all = append(all, *c)
		return nil
	})
	return all, err
}

// Verify checks every file that the commit log names: that it is there, its
// size, and its SHA-256. It returns all that is wrong.
func Verify(out, name string) error {
	var bad []error
	err := eachCommit(out, name, func(c *Commit) error {
		for _, f := range c.Files {
			bad = append(bad, verifyFile(filepath.Join(out, filepath.FromSlash(f.Path)), f))
		}
		return nil
	})
	return errors.Join(append(bad, err)...)
}

func eachCommit(out, name string, do func(*Commit) error) error {
	if !writerName.MatchString(name) {
		return fmt.Errorf("read commits: %q is not the name of a writer", name)
	}
	s := &dirSink{out: out, logs: filepath.Join(out, commitsDir, name), log: slog.New(slog.DiscardHandler)}
	if _, err := os.Stat(out); err != nil {
		return fmt.Errorf("read commits: %w", err)
	}
	refs, err := s.list(-1)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read commits: %w", err)
	}
	for _, r := range refs {
		c, err := s.read(r)
		if err != nil {
			return err
		}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

func verifyFile(file string, want File) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("verify %s: %w", want.Path, err)
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	switch {
	case err != nil:
		return fmt.Errorf("verify %s: %w", want.Path, err)
	case n != want.Bytes:
		return fmt.Errorf("verify %s: %d bytes, the commit log says %d", want.Path, n, want.Bytes)
	case hex.EncodeToString(sum.Sum(nil)) != want.SHA256:
		return fmt.Errorf("verify %s: the content is not what was committed", want.Path)
	}
	return nil
}
