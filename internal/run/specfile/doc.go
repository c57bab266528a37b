// Package specfile reads the spec of a crawl in YAML. From the text of a file it returns a valid
// crawlspec.Spec whose rules compile, or all errors of the text, each with its line, column and
// key, and with the correction. It does not check a rule or key further whose form is wrong.
//
// The Go types in pkg/crawlspec define the form of a spec. The known keys come from them, and so
// does schema.json, the JSON Schema for editors: `go generate` writes it with the comments of those
// types as descriptions.
//
// # Bounds
//
// Load rejects texts of more than MaxSize bytes, nesting of more than maxDepth levels, and aliases
// that expand to more than maxValues values, so that any text takes little time and memory. It
// reports at most maxProblems errors.
package specfile

//go:generate go test -run TestSchemaIsUpToDate -update .
