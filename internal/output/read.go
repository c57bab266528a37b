package output

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Output reads the committed data of a writer. It is safe for concurrent use.
type Output struct{ Log }

// Commits calls do for each entry of the commit log, by partition and in the order of the commits.
// It stops at the first error of do, or at an entry that cannot be read, and returns the error.
func (o Output) Commits(do func(*Commit) error) error {
	return o.eachCommit(do, func(_ Ref, err error) error { return err })
}

// eachCommit is Commits, but calls unread for each entry that cannot be read. If that returns nil,
// it continues with the next entry.
func (o Output) eachCommit(do func(*Commit) error, unread func(Ref, error) error) error {
	refs, err := o.List(-1)
	if err != nil {
		return fmt.Errorf("read commits: %w", err)
	}
	for _, r := range refs {
		c, err := o.Read(r)
		if err == nil {
			err = do(c)
		} else {
			err = unread(r, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// All returns the whole commit log.
func (o Output) All() ([]Commit, error) {
	var all []Commit
	err := o.Commits(func(c *Commit) error {
		all = append(all, *c)
		return nil
	})
	return all, err
}

// ErrNoLog is returned for a destination without a writer's log.
var ErrNoLog = errors.New("has no commit log (an output has one, in _commits)")

// Verifier is a Log that checks its commits itself.
type Verifier interface {
	// VerifyCommit returns an error if the commit's contents are damaged. Up to deleted of its
	// records may be missing.
	VerifyCommit(c *Commit, deleted int) error
}

// Reader is a Log with its own order of records.
type Reader interface {
	// EachRecord calls do with each record, as JSON without a line break, and its crawl.
	EachRecord(do func(crawl string, line []byte) error) error
}

// Close closes the connections that reading opened, if any.
func (o Output) Close() error {
	if c, ok := o.Log.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Only returns the only writer of a destination, or an error if names does not have exactly one.
func Only(names []string) (string, error) {
	switch len(names) {
	case 0:
		return "", ErrNoLog
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("has the commit logs of %d writers, %s: name one", len(names), strings.Join(names, ", "))
}

// Name returns the name of the output's writer.
func (o Output) Name() string {
	if n, ok := o.Log.(interface{ WriterName() string }); ok {
		return n.WriterName()
	}
	return ""
}

// EndsWithObjects reports whether the last entry of a partition is of objects. Then no chunk was
// begun since an owner last looked for leftovers, and a search could have to list millions of
// files.
func EndsWithObjects(log Log, refs []Ref) (bool, error) {
	if len(refs) == 0 {
		return false, nil
	}
	c, err := log.Read(refs[len(refs)-1])
	if err != nil || len(c.Files) == 0 {
		return false, err
	}
	return !IsChunk(c.Files[0].Path), nil
}
