// Package bucket writes output to S3.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"seine/internal/output"
)

// Sink is a bucket, or the keys below a prefix in one:
//
//	<prefix>/<dir>/part-<ppp>-<epoch>-<first>.<ext>            chunks
//	<prefix>/<dir>/part-<ppp>-<epoch>-<first>.<token>.<ext>    see below
//	<prefix>/_commits/<writer>/part-….json                     the log
//	<prefix>/_commits/<writer>/writer                          marks that a log exists
//
// # The commit
//
// A commit has the steps of the package comment. A chunk is built in an unnamed file in the state
// directory, which vanishes with the process. The chunk is sent when it is complete. Both the chunk
// and the entry are stored by one conditional request (If-None-Match: *): it stores everything or
// nothing, durably, and only if the key is free. The request that stores the entry is the commit.
//
// # Concurrent owners
//
// No lock ends with its process here. Owners can overlap: the next one may start while the former
// is frozen, or while its request is in flight. They do no harm, for these reasons.
//
//   - An owner continues from the end of the log, so its next entry is named after the first
//     message that follows. Owners that saw the same end of the log use the same name: its key is a
//     slot that only one of them can take. The other gets output.ErrExists, drops its work and
//     reads the log again. So the entries of a partition form one chain, and no record is in two of
//     them.
//   - The name of a chunk contains the slot of the only entry that can name it. A chunk is removed
//     once its slot, or a later one, has an entry that does not name it. Entries do not change, so
//     no entry will ever name it, and a late removal loses nothing. While the slot is free, all
//     objects with its name stay, whichever owner sent them.
//   - So the key of a chunk may already be in use: after a crash, by another owner, or by an
//     attempt whose response was lost. The chunk then gets a unique token in its name. A chunk that
//     is sent in parts always has one, since some services ignore the condition for those. Either
//     way nothing is replaced, and an entry names exactly the object that its owner sent.
//   - If the response to storing an entry was lost, the retry finds its slot taken by its own first
//     attempt: the stored bytes equal the sent ones, and they name chunks that no other owner could
//     have sent. That counts as success.
//
// # Leftovers
//
// The next owner removes the leftovers in the last slot that is taken, those in untaken slots before
// it, and those in its first slot once it has taken that. It aborts all multipart uploads of its
// partition and stream incarnation. An incomplete upload is not a chunk; if it belongs to a live
// owner, that owner fails and starts again. If two owners of one slot are frozen and the later one
// is killed at the right moment, a chunk can stay forever. It does not count, since no entry names
// it.
//
// Besides the cases of the package comment, these break the guarantee: a service whose listings or
// conditions are not consistent (Amazon's are); a lifecycle rule that removes objects; purging the
// messages after the end of the log by hand while an owner is frozen, which then has another first
// message; and a stream that lost its tail while an owner that holds records of that tail is
// frozen.
type Sink struct {
	out    string // as configured
	client *client
	prefix string // of all keys: empty, or ends with a slash
	logs   string // prefix of the log
	temp   string // directory for chunks in progress
	log    *slog.Logger
	hook   output.Hook
}

// marker is the object that distinguishes an empty log from a missing one.
const marker = "writer"

// Open makes sure that the named writer can write to out, and is the only one. out is a URL
// s3://BUCKET/PREFIX. Chunks in progress are kept in the directory temp.
func Open(out, name, temp string, o Options, log *slog.Logger, h output.Hook) (*Sink, error) {
	s, err := dial(out, name, o, log)
	if err != nil {
		return nil, err
	}
	s.hook, s.temp = h, temp
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, fmt.Errorf("directory for chunks: %w", err)
	}
	if err := s.prepare(name); err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	return s, nil
}

// Read returns the log of the named writer, or of the only writer if name is empty.
func Read(out, name string, o Options) (output.Log, error) {
	s, err := dial(out, name, o, slog.New(slog.DiscardHandler))
	if err != nil || name != "" {
		return s, err
	}
	names, err := s.client.folders(s.prefix + output.CommitsDir + "/")
	if err != nil {
		return nil, err
	}
	if name, err = output.Only(names); err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	s.logs = s.prefix + output.CommitsDir + "/" + name + "/"
	return s, nil
}

// Writers returns the names of the writers that have a log in out.
func Writers(out string, o Options) ([]string, error) {
	s, err := dial(out, "", o, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return s.client.folders(s.prefix + output.CommitsDir + "/")
}

// Check reports why the named writer could not write to out, as far as that can be seen without
// storing anything there.
func Check(out, name string, o Options) error {
	s, err := dial(out, name, o, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := cmp.Or(s.refuseOthers(name), s.refuseStrays()); err != nil {
		return fmt.Errorf("--out %s: %w", out, err)
	}
	return nil
}

// dial returns a sink without checking the bucket.
func dial(out, name string, o Options, log *slog.Logger) (*Sink, error) {
	bucket, prefix, err := split(out)
	if err != nil {
		return nil, err
	}
	client, err := newClient(bucket, o)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	return &Sink{out: out, client: client, prefix: prefix, logs: prefix + output.CommitsDir + "/" + name + "/", log: log}, nil
}

func (s *Sink) prepare(name string) error {
	if err := s.refuseOthers(name); err != nil {
		return err
	}
	if err := s.refuseStrays(); err != nil {
		return err
	}
	marker := s.logs + marker
	text := []byte("The commit log of a writer of Seine.\n")
	_, err := s.client.putNew(marker, text)
	made := err == nil
	if made {
		// A service that ignores the condition stores the object again.
		_, err = s.client.putNew(marker, text)
	}
	switch {
	case err == nil, errors.Is(err, errNotImplemented):
		return errNoConditions
	case !errors.Is(err, output.ErrExists):
		return err
	}
	err = s.refuseOthers(name) // another writer may have started at the same time
	if err != nil && made {
		_ = s.client.remove(marker)
	}
	return err
}

// refuseOthers does the same as in package dir.
func (s *Sink) refuseOthers(name string) error {
	all, err := s.client.folders(s.prefix + output.CommitsDir + "/")
	if err != nil {
		return err
	}
	for _, other := range all {
		if other != name {
			return fmt.Errorf("belongs to the writer %q, this one is %q: use another prefix for each writer", other, name)
		}
	}
	return nil
}

var errFound = errors.New("found")

// hasLog reports whether the log has any object.
func (s *Sink) hasLog() (bool, error) {
	err := s.client.list(s.logs, func(object) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// refuseStrays does the same as in package dir.
func (s *Sink) refuseStrays() error {
	if has, err := s.hasLog(); has || err != nil {
		return err
	}
	err := s.eachChunk("part-", func(key string, _ output.Name) error {
		return fmt.Errorf("holds %s but no commit log for it: restore %s, or name another prefix", key, s.logs)
	})
	if err == nil {
		return nil
	}
	if has, _ := s.hasLog(); has {
		return nil // a writer of the same name has just made it
	}
	return err
}

// eachChunk calls do for every object that has the name of a chunk and begins with start. It skips
// folders that are separate outputs.
func (s *Sink) eachChunk(start string, do func(key string, n output.Name) error) error {
	return s.eachBelow(s.prefix, start, do)
}

func (s *Sink) eachBelow(folder, start string, do func(key string, n output.Name) error) error {
	folders, err := s.client.folders(folder)
	if err != nil {
		return err
	}
	if folder != s.prefix {
		if slices.Contains(folders, output.CommitsDir) {
			return nil
		}
		err := s.client.list(folder+start, func(o object) error {
			if n, _, ok := output.ParseName(path.Base(o.key)); ok && path.Dir(o.key)+"/" == folder {
				return do(o.key, n)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, f := range folders {
		if strings.ContainsAny(f[:1], "._") {
			continue
		}
		if err := s.eachBelow(folder+f+"/", start, do); err != nil {
			return err
		}
	}
	return nil
}

// OpenPartition implements output.Sink. It never returns output.ErrHeld.
func (s *Sink) OpenPartition(p int, created time.Time) (output.Partition, []output.Ref, error) {
	d := &partition{sink: s}
	refs, err := s.ListAll(p)
	if refs = output.Unmerged(refs); err == nil {
		err = d.recover(p, output.CreatedStamp(created), refs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("recover partition %d of %s: %w", p, s.out, err)
	}
	return d, refs, nil
}

// List implements output.Log.
func (s *Sink) List(p int) ([]output.Ref, error) {
	refs, err := s.ListAll(p)
	return output.Live(refs), err
}

// ListAll implements output.Merger.
func (s *Sink) ListAll(p int) ([]output.Ref, error) {
	start := s.logs + "part-"
	if p >= 0 {
		start += fmt.Sprintf("%03d-", p)
	}
	var refs []output.Ref
	err := s.client.list(start, func(o object) error {
		n, ext, ok := output.ParseName(strings.TrimPrefix(o.key, s.logs))
		if ok && ext == output.EntryExt && (p < 0 || n.Partition == p) {
			refs = append(refs, output.Ref{Name: n, Stamp: o.etag})
		}
		return nil
	})
	output.SortRefs(refs)
	return refs, err
}

func (s *Sink) entryKey(n output.Name) string { return s.logs + n.String() + "." + output.EntryExt }

// Read implements output.Log.
func (s *Sink) Read(r output.Ref) (*output.Commit, error) {
	text, err := s.client.get(s.entryKey(r.Name))
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	c, err := output.DecodeCommit(r.Name, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w (restore it from a copy; if it is removed, its records are written again)",
			output.ErrCorrupt, Scheme+s.client.bucket+"/"+s.entryKey(r.Name), err)
	}
	return c, nil
}

// Open implements output.Log.
func (s *Sink) Open(f output.File) (io.ReadCloser, error) {
	return s.client.open(context.Background(), s.prefix+f.Path)
}

// partition is a partition of a Sink.
type partition struct {
	sink *Sink
	// loose are chunks whose slots were free when they were listed.
	loose map[string]output.Name
}

// recover removes chunks that no entry can name, and remembers those that may become removable
// later.
func (d *partition) recover(p int, epoch string, refs []output.Ref) error {
	d.loose = make(map[string]output.Name)
	ours := func(n output.Name) bool { return n.Partition == p && n.StreamCreated == epoch && n.Last == 0 }
	if hasObjects, err := output.EndsWithObjects(d.sink, refs); err != nil || hasObjects {
		return err
	}
	defer d.abort(ours)
	start := fmt.Sprintf("part-%03d-%s", p, epoch)
	err := d.sink.eachChunk(start, func(key string, n output.Name) error {
		if ours(n) {
			d.loose[key] = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	taken := make(map[output.Name]bool, len(refs))
	last := make(map[int]output.Ref) // by life; refs are in order
	for _, r := range refs {
		if ours(r.Name) {
			taken[r.Name], last[r.Incarnation] = true, r
		}
	}
	for _, r := range last {
		delete(taken, r.Name)
	}
	for key, n := range d.loose {
		if taken[n] { // its owner removed its own leftovers
			delete(d.loose, key)
		}
	}
	for _, r := range last {
		c, err := d.sink.Read(r)
		if err != nil {
			return err
		}
		d.tidy(c)
	}
	return nil
}

func (d *partition) abort(ours func(output.Name) bool) {
	prefix := d.sink.prefix
	err := d.sink.client.abort(prefix, func(key string) bool {
		below := strings.TrimPrefix(key, prefix)
		n, _, ok := output.ParseName(path.Base(below))
		return ok && ours(n) && below != path.Base(below)
	})
	if err != nil {
		// Some services do not list uploads, and some roles may not. Leftover uploads only take
		// space.
		d.sink.log.Warn("cannot list incomplete uploads", "error", err)
	}
}

// tidy removes the listed chunks in the slot of c and in slots before it, except those of c. It
// retries failed removals after the next commit.
func (d *partition) tidy(c *output.Commit) {
	for key, n := range d.loose {
		if n.Incarnation != c.Incarnation || n.First > c.LastSeq {
			continue
		}
		if !d.names(c, key) {
			d.sink.log.Info("removing a chunk that was not committed", "key", key)
			if err := d.sink.client.remove(key); err != nil {
				d.sink.log.Warn("cannot remove a chunk that was not committed", "key", key, "error", err)
				continue
			}
		}
		delete(d.loose, key)
	}
}

func (d *partition) names(c *output.Commit, key string) bool {
	return slices.ContainsFunc(c.Files, func(f output.File) bool { return d.sink.prefix+f.Path == key })
}

// Read implements output.Partition.
func (d *partition) Read(r output.Ref) (*output.Commit, error) { return d.sink.Read(r) }

// Close implements output.Partition.
func (d *partition) Close() error { return nil }

// Commit implements output.Partition.
func (d *partition) Commit(c *output.Commit) (output.Ref, error) {
	text, err := c.Encode()
	if err != nil {
		return output.Ref{}, err
	}
	s := d.sink
	if err := s.hook.At(output.StepEntrySynced); err != nil {
		return output.Ref{}, err
	}
	etag, err := s.client.putNew(s.entryKey(c.Name()), text)
	if errors.Is(err, output.ErrExists) {
		err = d.checkOwner(c, text)
	}
	if err != nil {
		return output.Ref{}, fmt.Errorf("commit: %w", err)
	}
	if err := s.hook.At(output.StepEntryRenamed); err != nil {
		return output.Ref{}, err
	}
	d.tidy(c)
	return output.Ref{Name: c.Name(), Stamp: etag}, nil
}

// checkOwner returns nil if the entry in the slot of c is c itself. If the slot belongs to another
// owner, the chunks of c are garbage.
func (d *partition) checkOwner(c *output.Commit, text []byte) error {
	have, err := d.sink.client.get(d.sink.entryKey(c.Name()))
	if err != nil {
		return err
	}
	if bytes.Equal(have, text) {
		return nil
	}
	for _, f := range c.Files {
		if output.IsChunk(f.Path) { // another entry may name the object
			d.loose[d.sink.prefix+f.Path] = c.Name()
		}
	}
	other, err := output.DecodeCommit(c.Name(), have)
	if err == nil {
		d.tidy(other)
	}
	return fmt.Errorf("%s: %w", d.sink.entryKey(c.Name()), output.ErrExists)
}

// Create implements output.Partition.
func (d *partition) Create(n output.Name, g output.Group, ext string) (output.Chunk, error) {
	f, err := d.sink.nameless()
	if err != nil {
		return nil, fmt.Errorf("begin chunk: %w", err)
	}
	return &chunk{Content: output.NewContent(f, d.sink.hook), part: d, name: n, group: g, ext: ext, f: f}, nil
}

// nameless creates an unnamed file, which vanishes with the process however that ends.
func (s *Sink) nameless() (*os.File, error) {
	f, err := os.CreateTemp(s.temp, "chunk-*.tmp") // in the system's temporary directory if temp is empty
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// chunk is a chunk of a Sink.
type chunk struct {
	output.Content
	part  *partition
	name  output.Name
	group output.Group
	ext   string
	f     *os.File
}

// Finish implements output.Chunk.
func (c *chunk) Finish() (output.File, error) {
	if err := c.Hook.At(output.StepSynced); err != nil {
		return output.File{}, err
	}
	file, err := c.send(c.Sum())
	if err != nil {
		return output.File{}, fmt.Errorf("send chunk: %w", err)
	}
	if err := c.Hook.At(output.StepRenamed); err != nil {
		return output.File{}, err
	}
	return c.File(path.Join(c.group.Dir, file), c.group), c.Hook.At(output.StepFinished)
}

// send stores the chunk, and returns the last part of its key.
func (c *chunk) send(sum []byte) (string, error) {
	s := c.part.sink
	dir, file := s.prefix+c.group.Dir+"/", c.name.String()+"."+c.ext
	if _, seen := c.part.loose[dir+file]; !seen && !s.client.isInParts(c.Size()) {
		err := s.client.sendNew(dir+file, c.f, c.Size(), sum)
		if !errors.Is(err, output.ErrExists) {
			return file, err
		}
		c.part.loose[dir+file] = c.name
	}
	file = c.name.String() + "." + newToken() + "." + c.ext
	return file, c.sendOwn(dir+file, sum)
}

// sendOwn stores the chunk under a unique key. If the key is in use, or its upload no longer
// exists, an earlier attempt succeeded and its response was lost. That object is complete, because
// uploads are atomic.
func (c *chunk) sendOwn(key string, sum []byte) error {
	client := c.part.sink.client
	err := client.sendNew(key, c.f, c.Size(), sum)
	if !errors.Is(err, output.ErrExists) && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	have, lookErr := client.head(key)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case have.size != c.Size():
		return fmt.Errorf("%s has %d bytes, %d were sent: %w", key, have.size, c.Size(), err)
	}
	return nil
}

// newToken returns a unique token.
func newToken() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Abandon implements output.Chunk. It does not remove the sent data, as in package dir.
func (c *chunk) Abandon() { _ = c.f.Close() }

var (
	_ output.Sink      = (*Sink)(nil)
	_ output.Partition = (*partition)(nil)
	_ output.Chunk     = (*chunk)(nil)
)
