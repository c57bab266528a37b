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

// newRegistry returns a registry of schemas. If types of several packages share a name, it adds the
// name of the package.
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
	r.RegisterTypeAlias(reflect.TypeFor[messages.Millis](), reflect.TypeFor[int64]()) // the JSON form of the type does not follow from the Go type
	for _, register := range registerEnums {
		register(r)
	}
	return r
}

// body is a reply without further headers.
type body[T any] struct{ Body T }

// tagged is a reply with an ETag.
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

// created is a reply with the location of a new object.
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

// looker calls a function with the connection to the cluster: Cluster.Do, Cluster.Look, or one of
// them for an existing crawl.
type looker func(context.Context, func(context.Context, *stages.Bus) error) error

// ask replies with the result of a request to the cluster.
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

// page is a page of a list.
type page[T any] struct {
	Items []T `json:"items" nullable:"false"`
	// Next is the cursor of the next page.
	Next string `json:"next,omitempty" doc:"Give it as cursor to have the next part; absent at the end."`
}

func pageOf[T any](items []T, next string) page[T] { return page[T]{append([]T{}, items...), next} }

// raw is JSON that is passed on unchanged.
type raw json.RawMessage

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

// UnmarshalJSON implements json.Unmarshaler.
func (r *raw) UnmarshalJSON(text []byte) error {
	*r = append((*r)[:0], text...)
	return nil
}

// Schema permits any value.
func (raw) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// record is a record of the output.
type record struct{ raw }

// Schema permits any object, because the members depend on the spec of the crawl.
func (record) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// sayText describes request bodies as text. huma reads them as bytes and would describe them as
// binary data, so generated clients would expect files.
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
