package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type archiveCmd struct {
	Time time.Time `help:"Time of all files." required:""`
	File string    `arg:"" help:"The archive, which ends in .tar.gz or .zip."`
	Dir  string    `arg:"" type:"existingdir" help:"The folder. All in the archive is below its name."`
}

// Run writes the archive. A half of one does not stay.
func (c *archiveCmd) Run() error {
	entries, err := entriesOf(c.Dir)
	if err != nil {
		return err
	}
	write := writeTarGz
	switch {
	case strings.HasSuffix(c.File, ".zip"):
		write = writeZip
	case !strings.HasSuffix(c.File, ".tar.gz"):
		return fmt.Errorf("%s: must end in .tar.gz or .zip", c.File)
	}
	f, err := os.Create(c.File)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f, entries, c.Time.UTC()), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", c.File, err), os.Remove(c.File))
	}
	return nil
}

// entry is a file or a folder in an archive.
type entry struct {
	name string // with slashes; of a folder with one at the end
	path string
	mode fs.FileMode // 0755 of folders and commands, 0644 of others, whatever the umask was
	size int64
}

// entriesOf lists a folder and all below it, in the order of names.
func entriesOf(dir string) (entries []entry, err error) {
	base := filepath.Base(filepath.Clean(dir))
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(filepath.Join(base, below)), path: path, mode: 0o644, size: info.Size()}
		switch {
		case info.IsDir():
			e.name, e.mode, e.size = e.name+"/", 0o755, 0
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: neither a file nor a folder", path)
		case info.Mode()&0o100 != 0:
			e.mode = 0o755
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func (e entry) isDir() bool { return strings.HasSuffix(e.name, "/") }

// copyTo writes what is in the file.
func (e entry) copyTo(w io.Writer) error {
	if e.isDir() {
		return nil
	}
	f, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

func writeTarGz(w io.Writer, entries []entry, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: e.size, ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if e.isDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if err := e.copyTo(t); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, entries []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(e.mode)
		if e.isDir() {
			h.SetMode(e.mode | fs.ModeDir)
			h.Method = zip.Store
		}
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := e.copyTo(to); err != nil {
			return err
		}
	}
	return z.Close()
}
