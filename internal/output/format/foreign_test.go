package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"seine/internal/testing/duckdb"
)

// Third-party programs read our files. scripts/readers installs them.

// without ends a test that lacks a program: it fails in CI, and is skipped elsewhere.
func without(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("no %s: scripts/readers brings it", what)
	}
	t.Skipf("no %s here: scripts/readers brings it", what)
}

// run runs a program and returns its output.
func run(t *testing.T, command ...string) string {
	t.Helper()
	path, err := exec.LookPath(command[0])
	if err != nil {
		without(t, command[0])
	}
	cmd := exec.Command(path, command[1:]...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", command[0], err, problem.String())
	}
	return out.String()
}

// file writes a chunk and returns its path.
func file(t *testing.T, name string, columns []Column, records ...*Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part."+name)
	fatal(t, os.WriteFile(path, encode(t, newFormat(t, name, with(columns)), records...), 0o600))
	return path
}

func TestZstdAndGzipReadWhatIsCompressed(t *testing.T) {
	_, records := pages(60)
	var plain bytes.Buffer
	for _, r := range records {
		plain.Write(append(r.Data[:len(r.Data):len(r.Data)], '\n'))
	}
	zst, gz := filepath.Join(t.TempDir(), "part.jsonl.zst"), file(t, "jsonl.gz", nil, records...)
	fatal(t, os.WriteFile(zst, encode(t, jsonLines{"jsonl.zst", newZstandard(200_000)}, records...), 0o600)) // three frames
	run(t, "zstd", "-q", "-t", zst)
	run(t, "gzip", "-t", gz)
	for _, got := range []string{run(t, "zstd", "-q", "-d", "-c", zst), run(t, "gzip", "-d", "-c", gz)} {
		if got != plain.String() {
			t.Errorf("%d bytes come out, %d went in", len(got), plain.Len())
		}
	}
	run(t, "zstd", "-q", "-t", file(t, "csv.zst", everyType, linesOf(`{"text":"a"}`)...))
	run(t, "gzip", "-t", file(t, "csv.gz", everyType, linesOf(`{"text":"a"}`)...))
}

func TestPythonReadsCSV(t *testing.T) {
	const program = `
import csv, json, sys
for line in csv.reader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True):
    print(json.dumps(line))
`
	columns := []Column{{Name: "text"}, {Name: "n", Type: Number}, {Name: "any", Type: JSON}, {Name: "list", List: true}, {Name: "a,\"b\""}}
	path := file(t, "csv", columns, linesOf(
		`{"text":"a","n":1.50,"any":{"a": [1]},"list":["x","y"]}`,
		`{"text":"line\r\nfeed, \"quoted\"","any":"\"","x":1}`,
		`{"text":"","n":"none","a,\"b\"":"é\ttab "}`,
	)...)
	want := []string{
		`["text", "n", "any", "list", "a,\"b\"", "_more"]`,
		`["a", "1.50", "{\"a\": [1]}", "[\"x\",\"y\"]", "", ""]`,
		`["line\r\nfeed, \"quoted\"", "", "\"", "", "", "{\"x\":1}"]`,
		`["", "", "", "", "\u00e9\ttab ", "{\"n\":\"none\"}"]`,
	}
	if got := strings.Split(strings.TrimSpace(run(t, "python3", "-c", program, path)), "\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// inDuckDB are records of every type, with DuckDB's result.
var inDuckDB = [][2]string{
	{`{"text":"a\n\"b\"","integer":-9223372036854775808,"number":0.1,"bool":true,"time":"2026-01-02T03:04:05.678901+01:00","json":{"a":[1,"x"]},"texts":["a",null,""],"integers":[],"numbers":[1,2.5],"bools":[true,null],"times":["2026-01-02"],"x":1}`,
		`{"text":"a\n\"b\"","integer":-9223372036854775808,"number":0.1,"bool":true,"time":"2026-01-02 02:04:05.678901+00","json":{"a":[1,"x"]},"texts":["a",null,""],"integers":[],"numbers":[1.0,2.5],"bools":[true,null],"times":["2026-01-02 00:00:00+00"],"_more":{"x":1}}`},
	{`{}`, `{"text":null,"integer":null,"number":null,"bool":null,"time":null,"json":null,"texts":null,"integers":null,"numbers":null,"bools":null,"times":null,"_more":null}`},
	{`{"text":"","integer":"1","number":1e300,"json":"s","texts":null}`,
		`{"text":"","integer":null,"number":1e300,"bool":null,"time":null,"json":"s","texts":null,"integers":null,"numbers":null,"bools":null,"times":null,"_more":{"integer":"1"}}`},
}

func TestDuckDBReadsParquet(t *testing.T) {
	var records []*Record
	for _, r := range inDuckDB {
		records = append(records, linesOf(r[0])...)
	}
	path := file(t, "parquet", everyType, records...)
	for i, got := range duckdb.Query(t, "", "SELECT * FROM read_parquet('"+path+"')") {
		if !reflect.DeepEqual(decode(t, got), decode(t, inDuckDB[i][1])) {
			t.Errorf("got  %s\nwant %s", got, inDuckDB[i][1])
		}
	}
	var types []string
	for _, row := range duckdb.Query(t, "", "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('"+path+"'))") {
		var c struct {
			Name string `json:"column_name"`
			Type string `json:"column_type"`
		}
		fatal(t, json.Unmarshal([]byte(row), &c))
		types = append(types, c.Name+" "+c.Type)
	}
	want := []string{
		"text VARCHAR", "integer BIGINT", "number DOUBLE", "bool BOOLEAN", "time TIMESTAMP WITH TIME ZONE", "json JSON",
		"texts VARCHAR[]", "integers BIGINT[]", "numbers DOUBLE[]", "bools BOOLEAN[]", "times TIMESTAMP WITH TIME ZONE[]", "_more JSON",
	}
	if !reflect.DeepEqual(types, want) {
		t.Errorf("types %q, want %q", types, want)
	}
}

func TestDuckDBReadsRowGroups(t *testing.T) {
	ofPage, records := pages(600)
	spec := ofPages()
	columns, _ := spec.Columns("", "")
	path := file(t, "parquet", columns, records...)
	got := duckdb.Query(t, "", fmt.Sprintf(`SELECT count(*) AS n, count(DISTINCT url) AS urls, sum(length(text)) AS letters, max(fetched_at) AS last,
		(SELECT count(DISTINCT row_group_id) FROM parquet_metadata('%s')) AS groups FROM read_parquet('%s') WHERE status = 200`, path, path))
	letters := 0
	for _, p := range ofPage {
		letters += len(p.Text)
	}
	want := fmt.Sprintf(`{"n":600,"urls":600,"letters":%d,"last":"2026-11-21 01:02:03.000599+00","groups":2}`, letters)
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Row groups that a reader can skip when it looks for a URL: both, or all but the one that has
	// it.
	for url, want := range map[string]string{ofPage[0].URL: `{"excluded":1}`, "https://nowhere.example/": `{"excluded":2}`} {
		got := duckdb.Query(t, "", fmt.Sprintf(`SELECT count(*) AS excluded FROM parquet_bloom_probe('%s', 'url', '%s') WHERE bloom_filter_excludes`, path, url))
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
	got = duckdb.Query(t, "", fmt.Sprintf(`SELECT min(stats_min_value) AS lowest, (SELECT min(url) FROM read_parquet('%s')) AS url FROM parquet_metadata('%[1]s')
		WHERE path_in_schema = 'url' GROUP BY ALL HAVING lowest IS DISTINCT FROM url`, path))
	if len(got) != 0 {
		t.Errorf("the smallest URL is not that of the statistics: %s", got)
	}
}

func TestDuckDBReadsTheOthers(t *testing.T) {
	records := linesOf(`{"text":"a, \"b\"","integer":1}`, `{"text":"","integer":2}`, `{"integer":3}`)
	columns := []Column{{Name: "text"}, {Name: "integer", Type: Integer}}
	want := []string{`{"text":"a, \"b\"","integer":1}`, `{"text":"","integer":2}`, `{"text":null,"integer":3}`}
	const json, csv = "read_json('%s')", "read_csv('%s', allow_quoted_nulls=false)"
	for name, read := range map[string]string{
		"jsonl": json, "jsonl.gz": json, "jsonl.zst": json, "json": json, "csv": csv, "csv.gz": csv, "csv.zst": csv,
	} {
		got := duckdb.Query(t, "", "SELECT text, integer FROM "+fmt.Sprintf(read, file(t, name, columns, records...)))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
