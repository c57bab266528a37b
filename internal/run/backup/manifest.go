package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/atomicfile"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
)

// ManifestFile is the name of the Manifest in the folder of a backup.
const ManifestFile = "seine-backup.json"

// format is the version of Manifest and of the files beside it.
const format = 1

// Errors of backups.
var (
	// ErrNoBackup is returned for a directory without a backup, or with an incomplete one.
	ErrNoBackup = errors.New("no complete backup in this directory")
	// ErrDamaged is returned if a file of a backup differs from the manifest.
	ErrDamaged = errors.New("the backup is damaged")
)

// Manifest lists the contents of a backup.
type Manifest struct {
	V       int             `json:"v"`
	Version string          `json:"version"` // version of Seine that made the backup
	Began   time.Time       `json:"began"`   // everything acknowledged before this time is in the backup
	Ended   time.Time       `json:"ended"`
	Layout  messages.Layout `json:"layout"`
	// Streams are in the order in which they were copied.
	Streams []Stream `json:"streams"`
	// Snapshots are the states of the partitions that have one. Bucket is the configuration of
	// their bucket, nil if there was none.
	Snapshots []partition.Snapshot    `json:"snapshots"`
	Bucket    *jetstream.StreamConfig `json:"bucket,omitempty"`
	Files     []File                  `json:"files"`
}

// Stream describes a stream, including those of buckets.
type Stream struct {
	Name     string `json:"name"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	LastSeq  uint64 `json:"last_seq"`
	Made     string `json:"made"` // see jsclient.KeyMade
	// Consumers are the durable consumers.
	Consumers []Consumer `json:"consumers,omitempty"`
}

// File describes a file of the backup.
type File struct {
	Path   string `json:"path"` // relative to the directory, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the total size of the files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Messages returns the number of messages in the streams, without buckets.
func (m *Manifest) Messages() (n uint64) {
	for _, s := range m.Streams {
		if !isBucket(s.Name) {
			n += s.Messages
		}
	}
	return n
}

// ReadManifest returns the manifest of a folder.
func ReadManifest(dir string) (*Manifest, error) {
	m := new(Manifest)
	err := atomicfile.ReadJSON(filepath.Join(dir, ManifestFile), m)
	_, unread := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: %s is missing", dir, ErrNoBackup, ManifestFile)
	case unread:
		return nil, fmt.Errorf("read backup: %w", err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	case m.V != format:
		return nil, fmt.Errorf("%s: the backup has format %d, this build reads %d: restore it by the build that has made it, Seine %s", dir, m.V, format, m.Version)
	}
	return m, nil
}

// write adds the files of dir to the manifest and writes it.
func (m *Manifest) write(dir string) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f := File{Path: filepath.ToSlash(path)}
		if f.Bytes, f.SHA256, err = digest(name); err != nil {
			return err
		}
		m.Files = append(m.Files, f)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list the files of the backup: %w", err)
	}
	if err := atomicfile.WriteJSON(filepath.Join(dir, ManifestFile), m); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// Verify compares the files of dir with the manifest. It returns ErrDamaged with the first file
// that differs.
func (m *Manifest) Verify(dir string) error {
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("%w: %q is not below the folder", ErrDamaged, f.Path)
		}
		n, sum, err := digest(filepath.Join(dir, filepath.FromSlash(f.Path)))
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case n != f.Bytes || sum != f.SHA256:
			return fmt.Errorf("%w: %s has %d bytes with the SHA-256 %s, %d with %s were written", ErrDamaged, f.Path, n, sum, f.Bytes, f.SHA256)
		}
	}
	return nil
}

// digest returns the size and the SHA-256 of a file.
func digest(name string) (int64, string, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return 0, "", fmt.Errorf("read %s: %w", name, err)
	}
	return n, hex.EncodeToString(sum.Sum(nil)), nil
}
