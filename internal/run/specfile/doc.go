// Package specfile reads the spec of a crawl that a person wrote in YAML. It
// takes the text of a file and gives a crawlspec.Spec that is valid and whose
// rules compile, or all that is wrong with the text, each with its line and
// column, its key, and what would be right. A rule or a key whose form is wrong is
// not looked at further.
//
// The shape of a spec is that of the Go types in pkg/crawlspec: from them come
// the keys that are known, and schema.json, the JSON Schema for editors, which
// `go generate` writes with the comments of those types as descriptions.
//
// # Bounds
//
// A text of more than MaxSize bytes, nesting of more than maxDepth levels and
// aliases that stand for more than maxValues values are refused, so that no text
// takes more than a moment and a few MiB. At most maxProblems are reported at once.
package specfile

//go:generate go test -run TestSchemaIsUpToDate -update .
