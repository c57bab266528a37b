// Package words checks the language of all texts that people read: documentation, help, messages,
// pages and comments. The rules are the mechanical part of the style guide in CONTRIBUTING.md.
package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// banned are words and phrases with a plainer alternative.
var banned = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`mend(s|ed|ing)?`, `(goes|go|going|went) on`, `stands? still|stood still`, `tells? (of|what|who|how|why|whether|that)`,
	`(is|are|was|were|be) told`, `there (is|are) no such`, `(is|are) no [a-z]+`, `(is|are) none`, `anew`, `given up|gives? up`,
	`let(s)? nobody`, `who asks`, `under way`, `(is|are|was|were|be) fed`, `a second time`, `lately`, `whoever`, `looks? in(to)?`,
	`by the name of`,
}, "|") + `)\b`)

// inComments are banned in comments, where most of the words above are plain.
var inComments = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`under way`, `anew`, `whoever`, `[.;:]\s+who`, `only who`, `who asks`, `for who`, `somebody`, `takes? note`, `hears? of`, `how manieth`, `of one.s own`,
	`(is|are|was|were|be) told`, `tells? (of|what|who|how|why|whether)`, `(goes|go|going) on`,
}, "|") + `)\b`)

// fine are technical phrases that a rule above would catch.
var fine = regexp.MustCompile(`(?i)there (is|are) (no (?:[^s]|s[^u])|none)|is no longer`)

// maxSentence is the maximum number of words in a sentence of the documentation, not counting code
// and tables.
const maxSentence = 35

// skipped are directories without our own texts.
var skipped = map[string]bool{".git": true, ".cache": true, "bin": true, "testdata": true, "node_modules": true, "testing": true, "uplot": true, "codemirror": true, "bench": true}

func each(t *testing.T, do func(file string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped[d.Name()] {
				return fs.SkipDir
			}
			return nil
		}
		do(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// check reports the banned words in a text.
func check(t *testing.T, where, text string) {
	t.Helper()
	report(t, where, text, banned)
}

func report(t *testing.T, where, text string, banned *regexp.Regexp) {
	t.Helper()
	for _, word := range banned.FindAllString(fine.ReplaceAllString(text, ""), -1) {
		t.Errorf("%s: %q: say it with the terms of CONTRIBUTING.md: %.100s", where, word, strings.Join(strings.Fields(text), " "))
	}
}

// Messages, help, the descriptions of metrics and comments use plain words.
func TestMessages(t *testing.T) {
	t.Parallel()
	each(t, func(file string) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return
		}
		set := token.NewFileSet()
		source, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range source.Comments {
			report(t, set.Position(comment.Pos()).String(), comment.Text(), inComments)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, " ") {
				check(t, set.Position(literal.Pos()).String(), text)
			}
			return true
		})
	})
}

var (
	tag  = regexp.MustCompile(`(?s)<[^>]*>|\{\{.*?\}\}`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	list = regexp.MustCompile(`x(,?\s+x)+`)
	ends = regexp.MustCompile(`[.:;!?](\s+|$)|\n\s*\n|\n\s*[-#*|>]|\n\d+\. |\|`)
)

// The web pages use plain words.
func TestPages(t *testing.T) {
	t.Parallel()
	each(t, func(file string) {
		if strings.HasSuffix(file, ".html") && strings.Contains(file, "templates") {
			for i, line := range strings.Split(read(t, file), "\n") {
				check(t, file+":"+strconv.Itoa(i+1), tag.ReplaceAllString(line, " "))
			}
		}
	})
}

// The documentation uses plain words and short sentences.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	each(t, func(file string) {
		if !strings.HasSuffix(file, ".md") {
			return
		}
		text := list.ReplaceAllString(code.ReplaceAllString(read(t, file), "x"), "x")
		for _, sentence := range ends.Split(text, -1) {
			check(t, file, sentence)
			if n := len(strings.Fields(sentence)); n > maxSentence {
				t.Errorf("%s: a sentence of %d words, at most %d: %.120s", file, n, maxSentence, strings.Join(strings.Fields(sentence), " "))
			}
		}
	})
}
