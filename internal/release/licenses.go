package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type licensesCmd struct {
	File     string   `arg:"" help:"The text, which is written."`
	Commands []string `arg:"" type:"existingfile" help:"Commands, built by Go with the module cache of this machine."`
}

// Run writes the licenses and notices of Go and of the modules that the commands depend on, each module once.
func (c *licensesCmd) Run() error {
	env, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	folders := map[string]string{"Go": root}
	for _, file := range c.Commands {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the build info of %s: %w", file, err)
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			name := m.Path + "@" + m.Version
			folders[name] = filepath.Join(cache, filepath.FromSlash(escaped(name)))
		}
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if err := addLicenses(&text, name, folders[name]); err != nil {
			return err
		}
	}
	return os.WriteFile(c.File, text.Bytes(), 0o644)
}

var (
	capital     = regexp.MustCompile(`[A-Z]`)
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([-._].*)?$`)
)

// escaped returns the folder of a module in the module cache, which has "!a" for "A".
func escaped(module string) string {
	return capital.ReplaceAllStringFunc(module, func(s string) string { return "!" + strings.ToLower(s) })
}

// addLicenses appends the license files in the folder of a module. A module without one is an error.
func addLicenses(text *bytes.Buffer, module, folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("find the license of %s: %w", module, err)
	}
	found := false
	for _, f := range files {
		if !f.Type().IsRegular() || !licenseFile.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(text, "==== %s: %s\n\n%s\n\n", module, f.Name(), bytes.TrimSpace(b))
	}
	if !found {
		return fmt.Errorf("%s has no license in %s", module, folder)
	}
	return nil
}
