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
	"seine/internal/serve/caller"
	"seine/pkg/messages"
)

// tool is a tool with input In and the JSON of Out as output.
type tool[In, Out any] struct {
	name, title, about string
	scope              caller.Scope // required scope
	open               bool         // sends requests to sites
	plain              bool         // has no structured content, because the text contains everything and may be long
	call               func(context.Context, *In) (json.RawMessage, error)
	text               func(*Out) string // text form of the output
}

// addTool adds a tool with the schemas of its types. A tool that the caller may not use is not
// listed, but can be called: the result is the reason.
func addTool[In, Out any](c *client, s *sdk.Server, t *tool[In, Out]) {
	writes := t.scope == caller.Write
	if !c.caller.May(t.scope) || writes && c.readOnly {
		c.hidden = append(c.hidden, t.name)
	}
	if c.inputs == nil {
		c.inputs = make(map[string]*jsonschema.Schema)
	}
	c.inputs[t.name] = schemaOf[In]()
	described := &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: schemaOf[In](),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: !writes, IdempotentHint: !writes, DestructiveHint: new(false), OpenWorldHint: &t.open},
	}
	if !t.plain {
		described.OutputSchema = schemaOf[Out]()
	}
	sdk.AddTool(s, described, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		answer, err := t.call(ctx, &in)
		if err != nil {
			return nil, nil, err
		}
		var out Out
		if err := jsontext.Unmarshal(answer, &out); err != nil {
			return nil, nil, fmt.Errorf("read the answer of %s: %w", t.name, err)
		}
		result := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t.text(&out)}}}
		if t.plain {
			return result, nil, nil
		}
		return result, answer, nil
	})
}

// schemas caches the schemas of types, because over HTTP each request has its own server.
var schemas sync.Map // of reflect.Type to *jsonschema.Schema

// ownJSON has the schemas of types whose JSON does not follow from their Go type.
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
		return have.(*jsonschema.Schema) //nolint:errcheck // only schemas are stored
	}
	s, err := jsonschema.For[T](ownJSON)
	if err != nil {
		panic(err) // a mistake in a type of this package
	}
	if spec := s.Properties["spec"]; spec != nil {
		spec.Types = []string{"string", "object"}
	}
	have, _ := schemas.LoadOrStore(t, s)
	return have.(*jsonschema.Schema) //nolint:errcheck // only schemas are stored
}
