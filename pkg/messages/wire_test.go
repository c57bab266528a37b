package messages

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/internal/testing/generated"
)

func wireDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The examples of docs/reference/wire.md can be decoded, and have no fields that the types lack.
func TestWireExamples(t *testing.T) {
	known := jsontext.UnmarshalStrict
	id := nats.Header{nats.MsgIdHdr: {"x"}}
	check := map[string]func([]byte) error{
		"candidates": func(b []byte) error { _, err := DecodeCandidates(b); return first(err, known(b, new(Candidates))) },
		"request":    func(b []byte) error { _, err := DecodeRequest(b); return first(err, known(b, new(Request))) },
		"result":     func(b []byte) error { _, err := DecodeResult(b); return first(err, known(b, new(Result))) },
		"page":       func(b []byte) error { _, err := decodePageText(b); return first(err, known(b, new(Page))) },
		"record":     func(b []byte) error { return first(CheckRecord(id, b), known(b, new(Record))) },
		"gone":       goneExample,
		"layout":     func(b []byte) error { return known(b, new(Layout)) },
		"deletion":   func(b []byte) error { _, err := DecodeDeletion(b, 1); return first(err, known(b, new(Deletion))) },
		"seeds": func(b []byte) error {
			seeds, bad := DecodeSeeds(b)
			if len(seeds) == 0 || len(bad) > 0 {
				return fmt.Errorf("%d seeds, bad: %v", len(seeds), bad)
			}
			return nil
		},
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?s)```json (\\w+)\n(.*?)\n```").FindAllStringSubmatch(wireDoc(t), -1) {
		kind, text := m[1], []byte(m[2])
		seen[kind] = true
		if kind == "spec" {
			continue // TestWireExampleOfASpec
		}
		if check[kind] == nil {
			t.Errorf("an example of %s, which has no decoder", kind)
		} else if err := check[kind](text); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for kind := range check {
		if !seen[kind] {
			t.Errorf("there is no example of %s", kind)
		}
	}
}

// goneExample checks that the example equals an encoded VisitRecord.
func goneExample(b []byte) error {
	var r struct {
		Kind      string    `json:"kind"`
		URL       string    `json:"url"`
		FetchedAt time.Time `json:"fetched_at"`
		Crawl     string    `json:"crawl"`
		Visit     Visit     `json:"visit"`
		Run       int64     `json:"run"`
		Status    int       `json:"status"`
		Class     Class     `json:"class"`
	}
	if err := jsontext.UnmarshalStrict(b, &r); err != nil {
		return err
	}
	made := VisitRecord{Kind: KindGone, URL: r.URL, FetchedAt: r.FetchedAt, Crawl: r.Crawl, Visit: r.Visit, Run: r.Run, Status: r.Status, Class: r.Class}
	var same map[string]any
	if err := json.Unmarshal(made.Encode(), &same); err != nil {
		return err
	}
	var want map[string]any
	if err := json.Unmarshal(b, &want); err != nil || !reflect.DeepEqual(same, want) {
		return fmt.Errorf("the example is %v, and such a record is %v", want, same)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// The lists of classes and details contain the comments of the constants.
func TestGeneratedClasses(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "result_class.go", nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	classes, details := "| class | meaning | retried |\n|---|---|---|\n", ""
	ast.Inspect(source, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Comment == nil {
			return true
		}
		word, meaning := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`), strings.TrimSpace(spec.Comment.Text())
		if spec.Type.(*ast.Ident).Name == "Detail" {
			details += fmt.Sprintf("- `%s` of %s\n", word, meaning)
		} else {
			classes += fmt.Sprintf("| `%s` | %s | %s |\n", word, meaning, map[bool]string{true: "yes", false: "no"}[Class(word).Retryable()])
		}
		return true
	})
	generated.Check(t, "../../docs/reference/wire.md", "classes", classes)
	generated.Check(t, "../../docs/reference/wire.md", "details", details)
}

// The tables of docs/reference/wire.md match the code.
func TestWireTables(t *testing.T) {
	doc := wireDoc(t)
	rows := func(format string, args ...any) {
		t.Helper()
		if row := fmt.Sprintf(format, args...); !strings.Contains(doc, row) {
			t.Errorf("docs/reference/wire.md lacks %q", row)
		}
	}
	for _, v := range partitionVectors {
		rows("| `%s` | `%s` | %d | %d |", v.url, v.domain, v.of16, v.of7)
	}
	for _, s := range Streams(DefaultStreamLimits(), 1) {
		for _, subject := range s.Subjects {
			prefix, _, _ := strings.Cut(subject, "*")
			rows("| `%s` | `%s", s.Name, prefix)
		}
	}
	for _, h := range []string{
		HeaderPage, HeaderSpec, HeaderDeadReason, HeaderDeadStage, HeaderDeadSubject, HeaderDeadStream, HeaderDeadSequence,
		HeaderDeadTries, HeaderDeadTime, HeaderDeadID, BucketCrawls, BucketRobots, BucketLeases, BucketMeta, BucketBodies,
		BucketSnapshots, BucketDuplicates, KeyLayout, SubjectControl, SubjectInFlight(ConsumerFetch), SubjectOwner("<group>", "<owner>"),
		OpClaim, HeaderClaimant,
	} {
		rows("`%s`", h)
	}
	rows("`\"v\"` is the schema version, %d now", Version)
	rows("%d at most.", MaxBatchURLs)
	rows("%d kinds at most", MaxKinds)
	rows("at most %d bytes", MaxText)
	rows("links from a seed, 0 to %d", MaxDepth)
	rows("over %d KiB as it travels", InlineBody>>10)
	rows("remembers an identity for %.0f minutes", DedupWindow.Minutes())
	rows("AckWait of %.0f s", AckWait.Seconds())
	rows("0 (first) to %d; %d if absent", MaxPriority, DefaultPriority)
	rows("is first\n  visited as `%s`", Visit{HashURL("https://example.org/"), 1})

	// Every field of every message is mentioned.
	for _, v := range []any{
		&Candidates{}, &Candidate{}, &KindCount{}, &Request{}, &Result{}, &Page{}, &Record{}, &Layout{}, &Seed{}, &Timings{},
		&Deletion{}, &StreamEnd{},
	} {
		for _, name := range fieldNames(v) {
			if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, `"`+name+`"`) {
				t.Errorf("docs/reference/wire.md does not mention %s of %T", name, v)
			}
		}
	}
	rows("at most %d bytes of printable UTF-8", MaxValidator)
	if DefaultPartitions != 16 || MaxDeliver != 5 {
		t.Error("docs/reference/wire.md says otherwise")
	}
}

func fieldNames(v any) (names []string) {
	typ := reflect.TypeOf(v).Elem()
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
