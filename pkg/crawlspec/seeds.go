package crawlspec

import (
	"encoding/json"
	"fmt"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// Seed is one entry of Spec.Seeds: a URL, a sitemap or a file. In YAML and JSON a
// plain text is a URL.
type Seed struct {
	// URL is where the crawl starts.
	URL string `json:"url,omitempty"`
	// Sitemap is the URL of a sitemap, which the crawl fetches like any page; the spec
	// must follow sitemaps.
	Sitemap string `json:"sitemap,omitempty"`
	// File has URLs, a line each, or JSON as on the stream of seeds. The command that applies the
	// spec reads it, from where the spec is, so it is in no spec that is stored.
	File string `json:"file,omitempty"`
	// Priority from 0 (first) to 9; the default is 5, or the value in the file.
	Priority *int `json:"priority,omitempty"`
	// Metadata is for the records of its page, and of the page that its redirects lead
	// to; of a file, for the URLs that have none there.
	Metadata messages.Metadata `json:"metadata,omitempty"`
	// Inherit copies the metadata to pages that are found from the seed.
	Inherit bool `json:"inherit,omitempty"`
}

// UnmarshalJSON accepts an entry, or only the URL.
func (s *Seed) UnmarshalJSON(b []byte) error {
	type plain Seed
	return textOr(b, &s.URL, (*plain)(s))
}

// MarshalJSON writes the form that UnmarshalJSON accepts, the short one if possible.
func (s Seed) MarshalJSON() ([]byte, error) {
	if s.Sitemap == "" && s.File == "" && s.Priority == nil && len(s.Metadata) == 0 && !s.Inherit {
		return json.Marshal(s.URL)
	}
	type plain Seed
	return json.Marshal(plain(s)) // texts, a number and a boolean
}

// Address returns the URL to submit, "" for a file.
func (s *Seed) Address() string {
	if s.Sitemap != "" {
		return s.Sitemap
	}
	return s.URL
}

// SeedURLs returns the canonical URLs of Seeds, without those of files.
func (s *Spec) SeedURLs() (urls []string) {
	for i := range s.Seeds {
		if u, err := weburl.Canonicalize(s.Seeds[i].Address()); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}

func (s *Seed) check(p *Problems, path string) {
	kinds := 0
	for _, text := range []string{s.URL, s.Sitemap, s.File} {
		if text != "" {
			kinds++
		}
	}
	if kinds != 1 {
		p.Addf(path, "write one of url, sitemap and file")
	}
	if s.Priority != nil {
		p.priority(path+".priority", *s.Priority)
	}
	if err := s.Metadata.Check(s.Inherit); err != nil {
		key, text, _ := strings.Cut(err.Error(), ": ")
		p.Addf(path+"."+key, "%s", text)
	}
	if _, err := weburl.CanonicalizeSeed(s.Address()); kinds == 1 && s.File == "" {
		p.Add(path+map[bool]string{false: ".url", true: ".sitemap"}[s.Sitemap != ""], err)
	}
}

// checkStored reports errors of a stored spec that are not errors in a file.
func (c specCheck) checkStored() error {
	var p Problems
	for i := range c.Seeds {
		if file := c.Seeds[i].File; file != "" {
			p.Addf(fmt.Sprintf("seeds[%d].file", i), "%q is read by the command that applies the spec (seine spec apply, seine crawl --spec): a stored spec contains the URLs", messages.Clip(file))
		}
	}
	return p.Err()
}

// MaxSize is the largest size of a stored spec, in bytes: a message of NATS has at most 1 MiB,
// including what NATS adds to it.
const MaxSize = 1<<20 - 4<<10

// CheckSize returns an error if an encoded spec is too large to be stored.
func CheckSize(text []byte) error {
	if len(text) <= MaxSize {
		return nil
	}
	return fmt.Errorf("the spec has %d bytes, at most %d can be stored: add a long list of seeds with seine seed --file", len(text), MaxSize)
}

// ReadSeeds returns the seeds in the text of a file, which replace the entry that names it. bad are
// the invalid parts of the text.
func (s *Seed) ReadSeeds(text []byte) (seeds []Seed, bad []messages.BadURL) {
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, nil
	}
	found, bad := messages.DecodeSeeds(text)
	for _, f := range found {
		seed := Seed{URL: f.URL, Priority: f.Priority, Metadata: f.Metadata, Inherit: f.Inherit}
		if f.Sitemap {
			seed.URL, seed.Sitemap = "", f.URL
		}
		if seed.Priority == nil {
			seed.Priority = s.Priority
		}
		if seed.Metadata == nil {
			seed.Metadata, seed.Inherit = s.Metadata, s.Inherit
		}
		seeds = append(seeds, seed)
	}
	return seeds, bad
}
