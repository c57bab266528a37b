package extract

import (
	"testing"

	"seine/pkg/crawlspec"
)

// An invalid spec is compiled nevertheless, to report all its errors.
func TestRuleOfTheKindOfChunksBesideChunks(t *testing.T) {
	spec := crawlspec.Default()
	spec.Chunks = new(crawlspec.Chunks)
	spec.Records = []crawlspec.RecordRule{{Kind: crawlspec.KindChunk, Fields: crawlspec.Fields{{Name: "a", Field: crawlspec.Field{Selector: crawlspec.Selector{CSS: "b"}}}}}}
	if rules, err := Compile(&spec); err != nil || len(rules.records) != 2 {
		t.Errorf("got %+v, %v", rules, err)
	}
}
