package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// tool is one that takes In and answers with the JSON of Out.
type tool[In, Out any] struct {
	name, title, about string
	open               bool // it sends requests to sites
	writes             bool
	call               func(context.Context, *In) (json.RawMessage, error)
	text               func(*Out) string // of the answer, for whom has no eye for its structure
}

// addTool adds a tool with the schemas of its types.
func addTool[In, Out any](s *sdk.Server, t *tool[In, Out]) {
	described := &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: schemaOf[In](), OutputSchema: schemaOf[Out](),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !t.writes, IdempotentHint: !t.writes, DestructiveHint: new(false), OpenWorldHint: &t.open},
	}
	sdk.AddTool(s, described, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, json.RawMessage, error) {
		answer, err := t.call(ctx, &in)
		if err != nil {
			return nil, nil, err
		}
		var out Out
		if err := jsontext.Unmarshal(answer, &out); err != nil {
			return nil, nil, fmt.Errorf("read the answer of %s: %w", t.name, err)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t.text(&out)}}}, answer, nil
	})
}

// schemas are those of types, which are made once: with HTTP, each request has a separate server.
var schemas sync.Map // of reflect.Type to *jsonschema.Schema

// ownJSON are types whose JSON is none that their Go type would tell.
var ownJSON = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[messages.Millis](): {Type: "integer"},
	reflect.TypeFor[messages.Visit]():  {Type: "string"},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}}

// schemaOf returns the schema of a type.
func schemaOf[T any]() *jsonschema.Schema {
	t := reflect.TypeFor[T]()
	if have, ok := schemas.Load(t); ok {
		return have.(*jsonschema.Schema) //nolint:errcheck // nothing else is stored
	}
	s, err := jsonschema.For[T](ownJSON)
	if err != nil {
		panic(err) // a type of this package
	}
	if spec := s.Properties["spec"]; spec != nil {
		spec.Types = []string{"string", "object"}
	}
	have, _ := schemas.LoadOrStore(t, s)
	return have.(*jsonschema.Schema) //nolint:errcheck // nothing else is stored
}
