package parser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"seine/pkg/messages"
)

// The end of a visit reports the number of published records by kind to the frontier.
func TestEndOfAVisitTellsItsRecordsByKind(t *testing.T) {
	p := parserOf(t, `
page: {emit: always}
records: [{kind: product, each: li, fields: {name: {css: b, required: true}}}]`)
	got := p.parsed(t, page("text/html"), []byte("<ul><li><b>Pen</b><li><b>Ring</b><li>nothing</ul>")).last.Records
	if want := []messages.KindCount{{Kind: "page", N: 1}, {Kind: "product", N: 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("it tells of %v, want %v", got, want)
	}
	var rules strings.Builder
	for i := range messages.MaxKinds + 10 {
		fmt.Fprintf(&rules, "\n  - {kind: kind_%d, fields: {name: b}}", i)
	}
	p = parserOf(t, "page: {emit: never}\nrecords:"+rules.String())
	got = p.parsed(t, page("text/html"), []byte("<b>Pen</b>")).last.Records
	n := int64(0)
	for _, k := range got {
		n += k.N
	}
	if len(got) != messages.MaxKinds || n != messages.MaxKinds+10 {
		t.Errorf("of %d kinds it tells of %d records in %d kinds", messages.MaxKinds+10, n, len(got))
	}
}
