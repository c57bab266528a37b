package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

type catCmd struct {
	Paths []string `arg:"" optional:"" help:"Files or directories of output." default:"./seine-out" type:"existing"`
}

// Run prints the records of output files, a line each.
func (c *catCmd) Run() error {
	for _, p := range c.Paths {
		files, err := chunks(p)
		if err != nil {
			return fmt.Errorf("list %s: %w", p, err)
		}
		for _, f := range files {
			if err := printChunk(os.Stdout, f); err != nil {
				return fmt.Errorf("print %s: %w", f, err)
			}
		}
	}
	return nil
}

// chunks returns the files with records at or below a path, in order.
func chunks(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "_commits":
			return fs.SkipDir
		case !d.IsDir() && (p == path || strings.Contains(d.Name(), ".jsonl")):
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func printChunk(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	switch filepath.Ext(path) {
	case ".zst":
		z, err := zstd.NewReader(f)
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	case ".gz":
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, r)
	return err
}
