package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/ops/alerts"
	"seine/internal/serve/cluster"
	"seine/internal/serve/webhooks"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// closedSets are the values of types of text that have a few, of which clients made from the document know that there are no others.
var closedSets = map[reflect.Type][]any{
	reflect.TypeFor[crawlspec.RunState]():    values(crawlspec.Running, crawlspec.Paused, crawlspec.Cancelled),
	reflect.TypeFor[frontierapi.EndReason](): values(frontierapi.Empty, frontierapi.Complete, frontierapi.PagesLimit, frontierapi.BytesLimit, frontierapi.TimeLimit),
	reflect.TypeFor[alerts.Kind]():           values(alerts.Kinds...),
	reflect.TypeFor[webhooks.Event]():        values(webhooks.CrawlEnded, webhooks.NewRecords),
	reflect.TypeFor[cluster.Mode]():          values(cluster.Running, cluster.Stored, cluster.Empty, cluster.Away),
}

// values are texts, as what a request has is compared with them.
func values[T ~string](all ...T) (texts []any) {
	for _, v := range all {
		texts = append(texts, string(v))
	}
	return texts
}

// closed stands for a type of closedSets in the OpenAPI document.
type closed[T ~string] string

// Schema lists the values.
func (closed[T]) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: closedSets[reflect.TypeFor[T]()]}
}

func registerClosed[T ~string](r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[T](), reflect.TypeFor[closed[T]]())
}

func registerClosedSets(r huma.Registry) {
	registerClosed[crawlspec.RunState](r)
	registerClosed[frontierapi.EndReason](r)
	registerClosed[alerts.Kind](r)
	registerClosed[webhooks.Event](r)
	registerClosed[cluster.Mode](r)
}
