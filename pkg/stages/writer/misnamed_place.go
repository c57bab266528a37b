package writer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
)

// An output is a directory, or a destination with a scheme. A name that looks like a file or like
// an unknown scheme is refused, and the error names the right one.

// checkPlace refuses a destination that is neither a bucket nor a database, and was not meant as a
// directory.
func checkPlace(out string) error {
	if !bucket.Is(out) {
		if write, told := intended(out); write != "" {
			return fmt.Errorf("--out %s: unsupported output: write --out %s (a directory of that name is ./%s)", told, write, told)
		}
	}
	stem, name := FileMeant(out)
	switch {
	case name == "":
		return nil
	case name == sqliteFile:
		return fmt.Errorf("--out %s: a database has a scheme: write --out sqlite:%s (a directory of that name is %s/)", out, out, out)
	case format.IsArchive(name):
		return fmt.Errorf("--out %s: an archive is a directory of files: write seine crawl --warc %s (a directory of that name is %s/)", out, stem, out)
	case bucket.Is(out):
		return fmt.Errorf("--out %s: an output is a directory or prefix of many files: write --out %s --format %s (a prefix of that name is %s/)", out, stem, name, out)
	}
	return fmt.Errorf("--out %s: an output is a directory of files: write --out %s --format %s; for one file, write --out %s and then seine export %s --single %s"+
		" (a directory of that name is %s/)", out, stem, name, stem, stem, stem+"."+name, out)
}

const sqliteFile = "sqlite"

// fileEnds are file extensions without a format, and the closest format.
var fileEnds = map[string]string{
	".db": sqliteFile, ".db3": sqliteFile, ".sqlite": sqliteFile, ".sqlite3": sqliteFile,
	".ndjson": "jsonl", ".txt": "jsonl", ".tsv": "csv", ".xls": "csv", ".xlsx": "csv",
	".arrow": "parquet", ".avro": "parquet", ".duckdb": "parquet", ".feather": "parquet", ".orc": "parquet", ".pq": "parquet",
}

// FileMeant returns the format of the file that out was probably meant as, and its name without the
// extension; "" if it was not meant as a file. An existing directory, or a name that ends with a
// slash, is a directory.
func FileMeant(out string) (stem, name string) {
	lower, end := strings.ToLower(out), strings.ToLower(filepath.Ext(out))
	name = format.NameOf(lower)
	if name == "" || !strings.HasSuffix(lower, "."+name) {
		if name = fileEnds[end]; name == "" {
			return "", ""
		}
	} else {
		end = "." + name
	}
	stem = out[:len(out)-len(end)]
	if strings.HasSuffix(stem, "/") || stem == "" {
		return "", ""
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return "", ""
	}
	return stem, name
}

// schemes are prefixes that users may try, and the right ones.
var schemes = map[string]string{
	"s3": bucket.Scheme, "s3a": bucket.Scheme, "s3n": bucket.Scheme, "sqlite": "sqlite:", "postgres": dsn, "postgresql": dsn, "pg": dsn, "psql": dsn,
	"file": "file:", "duckdb": "DIR --format parquet",
	"mysql": anyPlace, "mariadb": anyPlace, "mongodb": anyPlace, "clickhouse": anyPlace, "jdbc": anyPlace, "gs": anyPlace, "gcs": anyPlace, "az": anyPlace, "abfs": anyPlace,
	"hdfs": anyPlace, "http": anyPlace, "https": anyPlace, "ftp": anyPlace, "sftp": anyPlace,
}

const (
	dsn      = "postgres://USER@HOST/DATABASE"
	anyPlace = "DIR, s3://BUCKET/PREFIX, sqlite:FILE or postgres://USER@HOST/DATABASE"
)

var (
	// schemeOf matches names that were hardly meant as a directory: gs://bucket, mysql://host/db,
	// s3:/bucket.
	schemeOf = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]+):/+`)
	// keywords matches libpq's connection strings without a scheme.
	keywords = lazyregexp.New(`(^|\s)(host|dbname|service)=`)
)

// intended returns the destination that was probably meant by out, "" if out is valid, and out
// without a password.
func intended(out string) (write, shown string) {
	if keywords().MatchString(out) {
		return dsn, "…"
	}
	word, rest, found := strings.Cut(out, ":")
	if !found || len(word) < 2 {
		return "", ""
	}
	write, shown = schemes[strings.ToLower(word)], word+":…"
	if m := schemeOf().FindString(out); m != "" {
		shown = m + "…"
	}
	if write == "" {
		write = schemes[suggest.Name(word, []string{"sqlite", "postgres", "postgresql"})]
	}
	switch {
	case write == "" && shown != word+":…":
		return anyPlace, shown
	case write == bucket.Scheme:
		return write + strings.TrimLeft(rest, "/"), out
	case write == "sqlite:", write == "file:":
		return strings.TrimPrefix(write, "file:") + strings.TrimPrefix(rest, "//"), out
	}
	return write, shown
}
