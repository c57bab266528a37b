package sqlsinktest

import (
	"os"
	"strings"
	"testing"
)

// Documented is the description of the tables in docs/guides/databases.md and
// docs/reference/databases.md.
type Documented struct {
	// Tables has the columns of each table with their PostgreSQL types: "url text".
	Tables map[string][]string
	// Queries are the example queries.
	Queries []string
	// Drop is the statement that drops old history.
	Drop string
}

// ReadDocumented reads the examples of the guide and the diagram of the reference.
func ReadDocumented(t testing.TB) (d Documented) {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/guides/databases.md")
	check(t, err)
	reference, err := os.ReadFile("../../../docs/reference/databases.md")
	check(t, err)
	_, d.Drop, _ = strings.Cut(string(guide), "\n```sql\nUPDATE")
	d.Drop, _, _ = strings.Cut("UPDATE"+d.Drop, "```")
	_, queries, _ := strings.Cut(string(guide), "```sql\n")
	queries, _, _ = strings.Cut(queries, "```")
	for q := range strings.SplitSeq(strings.TrimSpace(queries), ";") {
		if q = strings.TrimSpace(q); q != "" {
			d.Queries = append(d.Queries, q)
		}
	}
	_, picture, _ := strings.Cut(string(reference), "erDiagram\n")
	picture, _, _ = strings.Cut(picture, "```")
	d.Tables = make(map[string][]string)
	table := ""
	for line := range strings.Lines(picture) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[1] == "{":
			table = words[0]
		case words[0] == "}":
			table = ""
		case table != "":
			d.Tables[table] = append(d.Tables[table], words[1]+" "+words[0])
		}
	}
	if len(d.Tables) == 0 || len(d.Queries) == 0 {
		t.Fatal("docs/reference/databases.md has no picture, or docs/guides/databases.md no examples")
	}
	return d
}
