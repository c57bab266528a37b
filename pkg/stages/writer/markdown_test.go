package writer

import (
	"strings"
	"testing"
)

func TestMarkdownIsOfRecordsInFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  func(*Config)
		want string
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Key = "pages/{path}.md" }, ""},
		{func(c *Config) { c.Out = "s3://bucket/prefix" }, ""},
		{func(c *Config) { c.From = "results" }, "--format markdown: needs the records of pages"},
		{func(c *Config) { c.From = "pages" }, "--format markdown: needs the records of pages"},
		{func(c *Config) { c.Out = "sqlite:pages.db" }, "--format markdown: is for files"},
		{func(c *Config) { c.Path = "{crawl}/{host}" }, "is for files of many records"},
		{func(c *Config) { c.Key = "{host}.md" }, "or all records would replace each other"},
	} {
		cfg := DefaultConfig()
		cfg.Format = "markdown"
		c.set(&cfg)
		if err := cfg.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("--out %s --from %s --path %q --key %q: got %v, want %q", cfg.Out, cfg.From, cfg.Path, cfg.Key, err, c.want)
		}
	}
}
