package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"seine/internal/output/format"
	"seine/pkg/crawlspec"
)

// maxLacking bounds the fields that an error names.
const maxLacking = 10

// checkFields rejects a spec with fields that the crawl's own spec lacks, if the records go back to
// the crawl. Writers create columns from the spec of the crawl, and would have no column for such
// fields.
func (p *messageCopier) checkFields(ctx context.Context, crawl string, spec *crawlspec.Spec) error {
	if p.Writer != nil || p.Spec == nil || p.Beyond {
		return nil
	}
	have, err := p.have.Get(ctx, crawl, 0)
	if err != nil {
		return err
	}
	lacking := lackingFields(have.Spec, spec)
	if len(lacking) == 0 {
		return nil
	}
	if more := len(lacking) - maxLacking; more > 0 {
		lacking = append(lacking[:maxLacking], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("crawl %s: its spec lacks fields of the given one: %s; views of databases would not show them:"+
		" store that spec first (seine spec apply FILE --crawl %s, with the --data or --nats of this command) and give this command again, or give --beyond-spec as well",
		crawl, strings.Join(lacking, ", "), crawl)
}

// lackingFields names the fields of spec for which have has no column, or one of another type.
func lackingFields(have, spec *crawlspec.Spec) (lacking []string) {
	for _, kind := range spec.Kinds() {
		columns := format.ColumnsOf(have, kind)
		for _, c := range format.ColumnsOf(spec, kind) {
			i := slices.IndexFunc(columns, func(h format.Column) bool { return h.Name == c.Name })
			switch {
			case i < 0:
				lacking = append(lacking, kind+"."+c.Name)
			case format.Union([]format.Column{columns[i]}, []format.Column{c})[0] != columns[i]:
				lacking = append(lacking, fmt.Sprintf("%s.%s as %s, not %s", kind, c.Name, typeOf(c), typeOf(columns[i])))
			}
		}
	}
	return lacking
}

func typeOf(c format.Column) string {
	if c.List {
		return "list of " + c.Type.String()
	}
	return c.Type.String()
}
