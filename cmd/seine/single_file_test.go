package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const twoKinds = `{"kind":"product","url":"https://a.test/1","crawl":"c","sku":"1","price":9.5}
{"kind":"product","url":"https://a.test/2","crawl":"c","sku":"2","price":10,"tags":["a","b"]}
{"kind":"offer","url":"https://a.test/2","crawl":"c","id":7}
{"kind":"product","url":"https://a.test/1","crawl":"c","sku":"1","price":null}
`

// Records become one file of one kind, in the format of its name or of --format.
func TestSingleFile(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from", "records.jsonl")
	if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(from, []byte(twoKinds), 0o600); err != nil {
		t.Fatal(err)
	}
	const products = "kind,url,crawl,sku,price,tags,_more\r\nproduct,https://a.test/1,c,1,9.5,,\r\n" +
		"product,https://a.test/2,c,2,10,\"[\"\"a\"\",\"\"b\"\"]\",\r\nproduct,https://a.test/1,c,1,,,\r\n"
	for _, c := range []struct{ name, flags, want string }{
		{"a.csv", "--kind product", products},
		{"a.CSV", "--kind product --csv-bom", "\ufeff" + products},
		{"a.csv", "--kind offer", "kind,url,crawl,id,_more\r\noffer,https://a.test/2,c,7,\r\n"}, // replaces the first
		{"a.csv", "--kind product --columns price,sku", "price,sku\r\n9.5,1\r\n10,2\r\n,1\r\n"},
		{"a.jsonl", "", twoKinds},
		{"a.json", "--kind offer", "[\n{\"kind\":\"offer\",\"url\":\"https://a.test/2\",\"crawl\":\"c\",\"id\":7}\n]\n"},
		{"a.parquet", "--kind product", "PAR1"},
		{"a.csv.gz", "--kind product", "\x1f\x8b"},
		{"a.jsonl.zst", "", "\x28\xb5\x2f\xfd"},
	} {
		file := filepath.Join(dir, c.name)
		want(t, exitOK, append([]string{"export", filepath.Dir(from), "--single", file}, strings.Fields(c.flags)...), "exported ", "to "+file)
		got, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(got), c.want) || len(c.want) > 5 && string(got) != c.want {
			t.Errorf("%s is %q, %v", c.name, got, err)
		}
	}
	if got := want(t, exitOK, []string{"cat", from, "--kind", "product", "--format", "csv"}); got != products {
		t.Errorf("cat prints %q", got)
	}
	if got := want(t, exitOK, []string{"cat", from, "--kind", "offer", "--format", "csv", "--columns", "id"}); got != "id\r\n7\r\n" {
		t.Errorf("cat prints %q", got)
	}
	want(t, exitUsage, []string{"cat", from, "--kind", "offer", "--format", "csv", "--columns", "crwl"}, "--columns: no record has crwl; did you mean crawl? there are kind, url, crawl, id")
	want(t, exitUsage, []string{"cat", from, "--kind", "offer", "--columns", "id"}, "--columns: is for CSV, not for jsonl")
	want(t, exitUsage, []string{"export", from, "--columns", "id", "--to", filepath.Join(dir, "to")}, "choose records for --single")
	keyed := filepath.Join(dir, "keyed.jsonl")
	if err := os.WriteFile(keyed, []byte(strings.ReplaceAll(twoKinds, `"sku":"1"`, `"key":"1","sku":"1"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := want(t, exitOK, []string{"cat", keyed, "--kind", "product", "--latest", "--format", "csv"}); strings.Count(got, "a.test/1") != 1 {
		t.Errorf("cat --latest prints %q", got)
	}
	latest := filepath.Join(dir, "latest.jsonl")
	want(t, exitOK, []string{"export", keyed, "--kind", "product", "--latest", "--single", latest}, "exported 2 records")
	want(t, exitUsage, []string{"export", keyed, "--run", "5", "--single", latest, "--kind", "none"}, "has no records")
	want(t, exitUsage, []string{"export", keyed, "--latest", "--to", filepath.Join(dir, "to")}, "choose records for --single")
	want(t, exitUsage, []string{"export", from, "--single", filepath.Join(dir, "b.csv")}, "--format csv: has the columns of one kind of record, and there are offer, product: write --kind offer")
	want(t, exitUsage, []string{"export", from, "--single", filepath.Join(dir, "a.xls")}, "must be a file whose name ends in .csv")
	want(t, exitUsage, []string{"export", from, "--single", filepath.Join(dir, "b.csv"), "--path", "{kind}"}, "--single: the name of the file selects its format")
	want(t, exitUsage, []string{"export", from, "--to", filepath.Join(dir, "b.csv")}, "for one file, write --single "+filepath.Join(dir, "b")+".csv; for many, --to "+filepath.Join(dir, "b")+" --format csv")
	want(t, exitUsage, []string{"cat", from, "--format", "warc"}, "--format warc: must be jsonl, json, csv or parquet")
	if left, _ := filepath.Glob(filepath.Join(dir, "b*")); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
}

// An output directory must not be named like a file, in any command.
func TestOutputsThatAreMisnamed(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, says := range map[string]string{
		"crawl http://a.test/ --out items.csv":             "--out items.csv: an output is a directory of files: write --out items --format csv;",
		"crawl http://a.test/ --out crawl.db":              "write --out sqlite:crawl.db",
		"crawl http://a.test/ --out s3:buck/x":             "write --out s3://buck/x",
		"crawl http://a.test/ --warc site.warc.gz":         "--warc site.warc.gz: an archive is a directory of files: write seine crawl --warc site",
		"crawl http://a.test/ --log-requests r.jsonl":      "--log-requests r.jsonl: an output is a directory of files: write --log-requests r",
		"export . --to s3:buck/x":                          "--to s3:buck/x: unsupported output: write --to s3://buck/x",
		"replay write --out items.csv --data no-such-data": "--out items.csv: an output is a directory of files",
	} {
		want(t, exitUsage, strings.Fields(args), says)
	}
	if left, err := os.ReadDir("."); len(left) > 0 || err != nil {
		t.Errorf("they leave %v, %v", left, err)
	}
}
