// Package structure checks rules about the structure of the code.
package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// maxMethods is the maximum number of methods of a type. A type with more has more than one job:
// split it.
const maxMethods = 30

func TestNoTypeHasTooManyMethods(t *testing.T) {
	t.Parallel()
	methods := make(map[string]int) // by folder and type
	for _, top := range []string{"cmd", "pkg", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			return count(path, methods)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(methods) < 500 {
		t.Errorf("%d types with methods were found, want all", len(methods))
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, the limit is %d", name, n, maxMethods)
		}
	}
}

// count adds the methods in a file to the counts of their types.
func count(path string, methods map[string]int) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			methods[filepath.Dir(path)+"."+nameOf(f.Recv.List[0].Type)]++
		}
	}
	return nil
}

// nameOf returns the type name of a receiver.
func nameOf(receiver ast.Expr) string {
	switch r := receiver.(type) {
	case *ast.StarExpr:
		return nameOf(r.X)
	case *ast.IndexExpr:
		return nameOf(r.X)
	case *ast.IndexListExpr:
		return nameOf(r.X)
	case *ast.Ident:
		return r.Name
	}
	return ""
}
