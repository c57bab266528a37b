package api

import (
	"context"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// newRegistry returns one that names types of other packages after these, where two share a name.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if pkg := path.Base(t.PkgPath()); slices.Contains([]string{"history", "trial", "extract", "seeds", "alerts", "replay"}, pkg) && t.Name() != "" {
			if pkg = strings.ToUpper(pkg[:1]) + pkg[1:]; !strings.HasPrefix(name, pkg) {
				name = pkg + name
			}
		}
		return name
	})
	r.RegisterTypeAlias(reflect.TypeFor[messages.Millis](), reflect.TypeFor[int64]()) // its JSON, which its Go type does not tell
	for _, register := range registerClosed {
		register(r)
	}
	return r
}

// body is an answer without further headers.
type body[T any] struct{ Body T }

// tagged is an answer with the tag that changes with it.
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

// created is an answer that says where what was made is found.
type created[T any] struct {
	Location string `header:"Location"`
	Body     T
}

func answerOf[T any](v T, err error) (*body[T], error) {
	if err != nil {
		return nil, err
	}
	return &body[T]{v}, nil
}

// looker calls a function with the connection to the cluster: Cluster.Do, Cluster.Look, or one of those for a crawl that there is.
type looker func(context.Context, func(context.Context, *stages.Bus) error) error

// ask answers with what the cluster says.
func ask[T any](ctx context.Context, look looker, do func(context.Context, *stages.Bus) (T, error)) (*body[T], error) {
	var out body[T]
	err := look(ctx, func(ctx context.Context, bus *stages.Bus) (err error) {
		out.Body, err = do(ctx, bus)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// page is a part of a list.
type page[T any] struct {
	Items []T `json:"items" nullable:"false"`
	// Next is the cursor of the next part.
	Next string `json:"next,omitempty" doc:"Give it as cursor to have the next part; absent at the end."`
}

func pageOf[T any](items []T, next string) page[T] { return page[T]{append([]T{}, items...), next} }

// raw is JSON that is passed on as it is.
type raw json.RawMessage

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

// UnmarshalJSON implements json.Unmarshaler.
func (r *raw) UnmarshalJSON(text []byte) error {
	*r = append((*r)[:0], text...)
	return nil
}

// Schema says that it may be anything.
func (raw) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// record is one of the output, as the rules of its crawl made it.
type record struct{ raw }

// Schema says that it is an object, of which only its crawl knows the members.
func (record) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// sayText says that bodies are text that huma reads as bytes, which it takes for binary data: clients made from
// the document would want files.
func sayText(doc *huma.OpenAPI) {
	for _, at := range doc.Paths {
		for _, op := range []*huma.Operation{at.Post, at.Put} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			for _, kind := range []string{"text/plain", "application/yaml"} {
				if b := op.RequestBody.Content[kind]; b != nil {
					b.Schema = &huma.Schema{Type: huma.TypeString}
				}
			}
		}
	}
}
