package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html"

	"seine/internal/page/article"
)

// writeTexts writes the texts of the main contents of the pages in a folder, by the names of their files.
func writeTexts(w io.Writer, dir string, zyte bool, o article.Options) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.html.gz"))
	if err != nil {
		return err
	}
	texts := make(map[string]any, len(files))
	for _, file := range files {
		text, err := textOfFile(file, o)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".html.gz")
		if texts[name] = text; zyte {
			texts[name] = map[string]string{"articleBody": text}
		}
	}
	return json.NewEncoder(w).Encode(texts)
}

func textOfFile(file string, o article.Options) (string, error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	root, err := html.ParseWithOptions(in, html.ParseOptionEnableScripting(false))
	if err != nil { // elements in too many others: there is no tree
		return "", nil // such a page has no text
	}
	content, _ := o.Main(root)
	return content.Text, nil
}
