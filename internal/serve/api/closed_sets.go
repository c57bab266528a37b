package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/ops/alerts"
	"seine/internal/ops/overview"
	"seine/internal/serve/cluster"
	"seine/internal/serve/webhooks"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// closedSets has all values of the string types that have a fixed set, for clients generated from
// the OpenAPI document.
var closedSets = make(map[reflect.Type][]any)

// registerEnums adds these values to the OpenAPI document.
var registerEnums = []func(huma.Registry){
	closedSet(crawlspec.Running, crawlspec.Paused, crawlspec.Cancelled),
	closedSet(overview.States...),
	closedSet(frontierapi.Empty, frontierapi.Complete, frontierapi.PagesLimit, frontierapi.BytesLimit, frontierapi.TimeLimit),
	closedSet(alerts.Kinds...),
	closedSet(webhooks.CrawlEnded, webhooks.NewRecords),
	closedSet(cluster.Running, cluster.Stored, cluster.Empty, cluster.Away),
}

// closedSet registers all values of a type as strings, because they are compared with strings of
// requests.
func closedSet[T ~string](all ...T) func(huma.Registry) {
	of := reflect.TypeFor[T]()
	for _, v := range all {
		closedSets[of] = append(closedSets[of], string(v))
	}
	return func(r huma.Registry) { r.RegisterTypeAlias(of, reflect.TypeFor[closed[T]]()) }
}

// closed stands for a type of closedSets in the OpenAPI document.
type closed[T ~string] string

// Schema returns an enum of the values.
func (closed[T]) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: closedSets[reflect.TypeFor[T]()]}
}
