package generated

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// docs/reference/metrics.md lists the name, the labels and the help of each metric in the code.
func TestGeneratedMetrics(t *testing.T) {
	var rows []string
	for _, folder := range []string{"pkg", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(source, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if texts := textsOf(call); len(texts) > 1 && strings.HasPrefix(texts[0], "seine_") {
						rows = append(rows, row(texts[0], texts[1], texts[2:]))
						return false
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(rows)
	Check(t, filepath.Join(root, "docs/reference/metrics.md"), "metrics", strings.Join(rows, ""))
}

// textsOf returns the strings in the arguments of a call that creates a metric: name, help and
// labels, including constants.
func textsOf(call *ast.CallExpr) (texts []string) {
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.CallExpr:
				return false
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	return texts
}

func row(name, help string, labels []string) string {
	if len(labels) > 0 {
		name += "` (`" + strings.Join(labels, "`, `") + "`)"
	} else {
		name += "`"
	}
	return "- `" + name + ": " + strings.TrimSuffix(help, ".") + "\n"
}
