package stateencryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A file begins with a header: a magic number, a salt, and a check value of the key. The rest is
// encrypted with AES-256 in counter mode, with a key that is derived from the salt for each file,
// so that no two files share a key stream. This provides confidentiality only; Pebble's checksums
// detect changes.
const (
	magic      = "seine\x00e1"
	saltSize   = 16
	checkSize  = 8
	headerSize = int64(len(magic) + saltSize + checkSize)
)

// FS returns a file system that stores its files encrypted in base. For a nil Key it returns base.
func (k *Key) FS(base vfs.FS) vfs.FS {
	if k == nil {
		return base
	}
	return encryptedFS{base, k}
}

type encryptedFS struct {
	vfs.FS
	key *Key
}

// Unwrap implements vfs.FS.
func (fs encryptedFS) Unwrap() vfs.FS { return fs.FS }

// Create implements vfs.FS.
func (fs encryptedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	head, block := fs.header(salt)
	if _, err := f.Write(head); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{File: f, block: block}, nil
}

// ReuseForWrite implements vfs.FS. It removes the old file, because a key stream must be used once
// only.
func (fs encryptedFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.FS.Remove(old); err != nil {
		return nil, err
	}
	return fs.Create(name, c)
}

// OpenReadWrite implements vfs.FS. It fails, because writing the same place twice would reveal the
// difference of the two texts.
func (fs encryptedFS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, fmt.Errorf("write into %s, which is encrypted: %w", name, errors.ErrUnsupported)
}

// Open implements vfs.FS. A file whose header was cut off by a crash is empty.
func (fs encryptedFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	head := make([]byte, headerSize)
	switch _, err := io.ReadFull(f, head); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &file{File: f, empty: true}, nil
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	want, block := fs.header(head[len(magic):][:saltSize])
	if !hmac.Equal(head, want) {
		return nil, errors.Join(fmt.Errorf("%w: %s is not encrypted by it", ErrKey, name), f.Close())
	}
	return &file{File: f, block: block}, nil
}

// header returns the header of a file with a salt, and the cipher for its content.
func (fs encryptedFS) header(salt []byte) (head []byte, block cipher.Block) {
	block, err := aes.NewCipher(fs.key.derive("file", salt))
	if err != nil {
		panic(err) // only for an invalid length
	}
	head = append([]byte(magic), salt...)
	return append(head, fs.key.derive("file check", salt)[:checkSize]...), block
}

// Stat implements vfs.FS.
func (fs encryptedFS) Stat(name string) (vfs.FileInfo, error) { return shorter(fs.FS.Stat(name)) }

// shorter returns the file information without the header.
func shorter(info vfs.FileInfo, err error) (vfs.FileInfo, error) {
	if err != nil || info.IsDir() {
		return info, err
	}
	return fileInfo{info}, nil
}

type fileInfo struct{ vfs.FileInfo }

// Size implements os.FileInfo.
func (i fileInfo) Size() int64 { return max(0, i.FileInfo.Size()-headerSize) }

// file is an encrypted file.
type file struct {
	vfs.File
	block cipher.Block
	at    int64 // position of Read or Write, without the header
	empty bool  // has no header
}

// crypt encrypts or decrypts content at offset off.
func (f *file) crypt(p []byte, off int64) {
	var counter, skipped [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(off/aes.BlockSize))
	stream := cipher.NewCTR(f.block, counter[:])
	stream.XORKeyStream(skipped[:off%aes.BlockSize], skipped[:off%aes.BlockSize])
	stream.XORKeyStream(p, p)
}

// Read implements vfs.File.
func (f *file) Read(p []byte) (int, error) {
	if f.empty {
		return 0, io.EOF
	}
	n, err := f.File.Read(p)
	f.crypt(p[:n], f.at)
	f.at += int64(n)
	return n, err
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.empty {
		return 0, io.EOF
	}
	n, err := f.File.ReadAt(p, headerSize+off)
	f.crypt(p[:n], off)
	return n, err
}

// Write implements vfs.File. It may modify p.
func (f *file) Write(p []byte) (int, error) {
	f.crypt(p, f.at)
	n, err := f.File.Write(p)
	f.at += int64(n)
	return n, err
}

// WriteAt implements vfs.File: see OpenReadWrite.
func (f *file) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

// Preallocate implements vfs.File.
func (f *file) Preallocate(off, length int64) error {
	return f.File.Preallocate(headerSize+off, length)
}

// SyncTo implements vfs.File.
func (f *file) SyncTo(length int64) (bool, error) { return f.File.SyncTo(headerSize + length) }

// Prefetch implements vfs.File.
func (f *file) Prefetch(off, length int64) error { return f.File.Prefetch(headerSize+off, length) }

// Stat implements vfs.File.
func (f *file) Stat() (vfs.FileInfo, error) { return shorter(f.File.Stat()) }

// Fd implements vfs.File. It returns no descriptor, because the underlying file is encrypted.
func (f *file) Fd() uintptr { return vfs.InvalidFd }

var _ os.FileInfo = fileInfo{}
