package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// write writes the list of this test, which is a command of this module too.
func write(t *testing.T, status string) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sbom.cdx.json")
	if err := (&sbomCmd{Name: "seine", Version: "1.2.3", Time: at, DpkgStatus: status, File: file, Commands: []string{self}}).Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, text []byte) *cdx.BOM {
	t.Helper()
	list := new(cdx.BOM)
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestListHasModulesWithTheirHashes(t *testing.T) {
	list := read(t, write(t, ""))
	if list.SpecVersion != cdx.SpecVersion1_6 || list.Metadata.Component.Version != "1.2.3" || list.Metadata.Timestamp != "2026-11-26T00:55:30Z" {
		t.Errorf("the list is of %+v", list.Metadata)
	}
	names := make(map[string]cdx.Component)
	for _, c := range *list.Components {
		names[c.Name] = c
	}
	kong := names["github.com/alecthomas/kong"]
	if kong.PackageURL != "pkg:golang/github.com/alecthomas/kong@"+kong.Version || kong.Hashes == nil || len((*kong.Hashes)[0].Value) != 64 {
		t.Errorf("a module is listed as %+v", kong)
	}
	if std := names["std"]; !strings.HasPrefix(std.PackageURL, "pkg:golang/std@1.") {
		t.Errorf("the standard library is listed as %+v", std)
	}
}

// Whatever depends on something names what is listed.
func TestDependenciesAreListed(t *testing.T) {
	list := read(t, write(t, ""))
	refs := []string{list.Metadata.Component.BOMRef}
	for _, c := range *list.Components {
		refs = append(refs, c.BOMRef)
	}
	for _, d := range *list.Dependencies {
		for _, ref := range append(slices.Clone(*d.Dependencies), d.Ref) {
			if !slices.Contains(refs, ref) {
				t.Errorf("%s is not listed", ref)
			}
		}
	}
}

func TestListsOfTheSameCommandsAreEqual(t *testing.T) {
	if !bytes.Equal(write(t, ""), write(t, "")) {
		t.Error("two lists differ")
	}
}

func TestListHasInstalledDebianPackages(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	text := "Package: chromium\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:142.0-1~deb13u1\nDescription: web browser\n Package: no\n\n" +
		"Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n"
	if err := os.WriteFile(status, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var debs []string
	for _, c := range *read(t, write(t, status)).Components {
		if strings.HasPrefix(c.PackageURL, "pkg:deb/") {
			debs = append(debs, c.PackageURL)
		}
	}
	if want := []string{"pkg:deb/debian/chromium@1%3A142.0-1~deb13u1?arch=amd64"}; !slices.Equal(debs, want) {
		t.Errorf("it lists %q, want %q", debs, want)
	}
}

func TestListRefusesWhatGoHasNotBuilt(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no command"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&sbomCmd{Version: "1", Time: at, File: text + ".json", Commands: []string{text}}).Run(); err == nil {
		t.Error("a text is listed")
	}
}
