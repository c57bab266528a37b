package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

type sbomCmd struct {
	Name       string    `help:"What the list is of." default:"seine"`
	Version    string    `help:"Its version." required:""`
	Time       time.Time `help:"When it was made: the time of the commit." required:""`
	DpkgStatus string    `help:"List the Debian packages too that are installed according to this file, of an image." type:"existingfile" placeholder:"FILE"`
	File       string    `arg:"" help:"The list, which is written."`
	Commands   []string  `arg:"" type:"existingfile" help:"Commands, built by Go."`
}

// Run writes the list.
func (c *sbomCmd) Run() error {
	list, err := c.list()
	if err != nil {
		return err
	}
	f, err := os.Create(c.File)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(list, cdx.SpecVersion1_6)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", c.File, err)
	}
	return nil
}

// list is the list of all commands: each with its hash, and each module once.
func (c *sbomCmd) list() (*cdx.BOM, error) {
	s := &sbom{of: make(map[string]cdx.Component)}
	for _, file := range c.Commands {
		if err := s.addCommand(file, c.Version); err != nil {
			return nil, err
		}
	}
	if c.DpkgStatus != "" {
		if err := s.addDebian(c.DpkgStatus); err != nil {
			return nil, err
		}
	}
	self := cdx.Component{BOMRef: "pkg:generic/" + c.Name + "@" + url.PathEscape(c.Version), Type: cdx.ComponentTypeApplication, Name: c.Name, Version: c.Version}
	s.depends = append(s.depends, cdx.Dependency{Ref: self.BOMRef, Dependencies: &s.top})
	slices.SortFunc(s.depends, func(a, b cdx.Dependency) int { return strings.Compare(a.Ref, b.Ref) })
	slices.SortFunc(s.components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	list := cdx.NewBOM()
	list.Metadata = &cdx.Metadata{Timestamp: c.Time.UTC().Format(time.RFC3339), Component: &self}
	list.Components, list.Dependencies = &s.components, &s.depends
	return list, nil
}

// sbom is a list that grows.
type sbom struct {
	of         map[string]cdx.Component // by reference
	components []cdx.Component
	depends    []cdx.Dependency
	top        []string // what the whole consists of
}

func (s *sbom) add(c cdx.Component) {
	if _, there := s.of[c.BOMRef]; !there {
		s.of[c.BOMRef] = c
		s.components = append(s.components, c)
	}
}

// addCommand adds a command, and what the toolchain has put down in it of its modules.
func (s *sbom) addCommand(file, version string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read what %s is built of: %w", file, err)
	}
	sum, err := sha256Of(file)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".exe")
	ref := "command:" + name
	if info.Main.Path != "seine" {
		version = strings.TrimPrefix(info.Main.Version, "v")
	}
	s.add(cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: name, Version: version, Hashes: hash(sum)})
	s.top = append(s.top, ref)
	std := module("std", strings.TrimPrefix(info.GoVersion, "go"), "")
	s.add(std)
	uses := []string{std.BOMRef}
	for _, m := range info.Deps {
		c := moduleOf(m)
		s.add(c)
		uses = append(uses, c.BOMRef)
	}
	s.depends = append(s.depends, cdx.Dependency{Ref: ref, Dependencies: &uses})
	return nil
}

// moduleOf is the module that was built, which is another one where it was replaced.
func moduleOf(m *debug.Module) cdx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	return module(m.Path, m.Version, m.Sum)
}

// module is a module of Go. Its sum, as go.sum has it, is a hash of all its files.
func module(path, version, sum string) cdx.Component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, Scope: cdx.ScopeRequired, PackageURL: purl}
	if encoded, found := strings.CutPrefix(sum, "h1:"); found {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			c.Hashes = hash(raw)
		}
	}
	return c
}

func hash(sum []byte) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
}

func sha256Of(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return h.Sum(nil), nil
}

// addDebian adds the packages that dpkg has installed.
func (s *sbom) addDebian(status string) error {
	text, err := os.ReadFile(status)
	if err != nil {
		return err
	}
	for paragraph := range strings.SplitSeq(string(text), "\n\n") {
		of := make(map[string]string)
		for line := range strings.SplitSeq(paragraph, "\n") {
			if key, value, found := strings.Cut(line, ": "); found && !strings.HasPrefix(line, " ") {
				of[key] = value
			}
		}
		if !strings.HasSuffix(of["Status"], " installed") {
			continue
		}
		purl := "pkg:deb/debian/" + of["Package"] + "@" + url.QueryEscape(of["Version"]) + "?arch=" + of["Architecture"]
		s.add(cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: of["Package"], Version: of["Version"], PackageURL: purl})
		s.top = append(s.top, purl)
	}
	return nil
}
