// Package duckdb runs queries in DuckDB, for tests. scripts/readers installs it.
package duckdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const program = `
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
const db = await (await DuckDBInstance.create(":memory:")).connect();
await db.run("SET TimeZone='UTC'");
await db.run("SET file_search_path='" + process.argv[1] + "'");
const found = await db.runAndReadAll("SELECT to_json(r)::VARCHAR FROM (" + readFileSync(0, "utf8") + ") r");
for (const [row] of found.getRows()) console.log(row);
`

// Query returns the rows of a query, each as a JSON object. Relative file names in the query are
// resolved against dir. Without DuckDB it fails in CI and skips the test elsewhere.
func Query(t testing.TB, dir, query string) []string {
	t.Helper()
	cmd := exec.Command("node", "--input-type=module", "-e", program, dir) //nolint:gosec // a folder of a test
	cmd.Dir, cmd.Stdin = installed(t), strings.NewReader(query)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("DuckDB: %v: %s\n%s", err, problem.String(), query)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// installed returns the directory of the npm package.
func installed(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		at := filepath.Join(dir, ".cache", "duckdb")
		if _, err := os.Stat(filepath.Join(at, "version")); err == nil {
			return at
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	const missing = "DuckDB is not installed: run scripts/readers"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
