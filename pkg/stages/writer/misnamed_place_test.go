package writer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/output/bucket"
)

// Names that look like a file or an unknown scheme are no directories. The error has the corrected
// command line.
func TestPlacesThatAreMisnamed(t *testing.T) {
	for out, want := range map[string]string{
		"items.csv":               "write --out items --format csv; for one file, write --out items and then seine export items --single items.csv (a directory of that name is items.csv/)",
		"./a/Items.CSV":           "write --out ./a/Items --format csv;",
		"items.csv.gz":            "write --out items --format csv.gz;",
		"x.parquet":               "write --out x --format parquet;",
		"x.jsonl":                 "write --out x --format jsonl;",
		"x.jsonl.zst":             "write --out x --format jsonl.zst;",
		"x.ndjson":                "--single x.jsonl",
		"x.json":                  "write --out x --format json;",
		"x.tsv":                   "write --out x --format csv;",
		"x.xlsx":                  "write --out x --format csv;",
		"x.duckdb":                "write --out x --format parquet;",
		"crawl.db":                "write --out sqlite:crawl.db (",
		"/tmp/crawl.sqlite3":      "write --out sqlite:/tmp/crawl.sqlite3 (",
		"site.warc.gz":            "write seine crawl --warc site (",
		"s3://buck/x.parquet":     "write --out s3://buck/x --format parquet (a prefix of that name is s3://buck/x.parquet/)",
		"s3:buck/x":               "write --out s3://buck/x (",
		"s3:/buck/x":              "write --out s3://buck/x (",
		"S3://buck/x":             "write --out s3://buck/x (",
		"s3a://buck/x":            "write --out s3://buck/x (",
		"SQLite:x.db":             "write --out sqlite:x.db (",
		"sqlite3:/a/x.db":         "write --out sqlite:/a/x.db (",
		"sqlite://x.db":           "must be sqlite:FILE",
		"postgresql:crawls":       "--out postgresql:…: unsupported output: write --out postgres://USER@HOST/DATABASE",
		"postgres:me:pw@h/crawls": "--out postgres:…: unsupported output",
		"postgre://me:pw@h/db":    "--out postgre://…: unsupported output",
		"Postgres://me:pw@h/db":   "write --out postgres://USER@HOST/DATABASE",
		"pg:db":                   "write --out postgres://USER@HOST/DATABASE",
		"host=h password=pw":      "--out …: unsupported output: write --out postgres://USER@HOST/DATABASE",
		"duckdb:x.db":             "write --out DIR --format parquet (",
		"mysql:db":                "write --out DIR, s3://BUCKET/PREFIX, sqlite:FILE or postgres://USER@HOST/DATABASE (",
		"mysql://me:pw@h/db":      "--out mysql://…: unsupported output",
		"gs://buck/x":             "--out gs://…: unsupported output",
		"own+x://h/x":             "--out own+x://…: unsupported output",
		"file:///tmp/x":           "write --out /tmp/x (",
		"file:x":                  "write --out x (",
		"items.csv/":              "", "out": "", "csv": "", ".csv": "", "a/.csv": "", "example.com": "", "crawl.2026": "", "v1.0": "", "./a.b/c": "", "out:2026": "", `C:\out`: "", "C:/out": "",
		"..": "", ".": "", "s3://buck/x": "", "s3://buck/x.csv/": "", "sqlite:x.db": "", "postgresql://h/db": "",
	} {
		c := DefaultConfig().OutputConfig
		c.Out = out
		switch err := c.Validate(); {
		case want == "" && err != nil && !bucket.Is(out):
			t.Errorf("--out %s: %v", out, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw")):
			t.Errorf("--out %s: %v, want %q", out, err, want)
		}
	}
}

// An existing directory is accepted, whatever its name.
func TestDirectoryThatIsCalledLikeAFile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "items.csv")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	c := OutputConfig{Out: out}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}
