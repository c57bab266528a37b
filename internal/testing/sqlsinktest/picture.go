package sqlsinktest

import (
	"os"
	"strings"
	"testing"
)

// Documented is what docs/databases.md says of the tables.
type Documented struct {
	// Tables are the columns of each, with their types in PostgreSQL: "url text".
	Tables map[string][]string
	// Queries are the examples.
	Queries []string
}

// ReadDocumented reads the picture and the examples of docs/databases.md.
func ReadDocumented(t testing.TB) (d Documented) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/databases.md")
	check(t, err)
	_, queries, _ := strings.Cut(string(text), "```sql\n")
	queries, _, _ = strings.Cut(queries, "```")
	for q := range strings.SplitSeq(strings.TrimSpace(queries), ";") {
		if q = strings.TrimSpace(q); q != "" {
			d.Queries = append(d.Queries, q)
		}
	}
	_, picture, _ := strings.Cut(string(text), "erDiagram\n")
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
		t.Fatal("docs/databases.md has no picture, or no examples")
	}
	return d
}
