package document

import (
	"seine/internal/page/structured"
)

// JSONLD returns the objects of the page's JSON-LD, in the order of the page, as
// JSON returns values (structured.Objects).
func (d *Document) JSONLD() ([]any, error) {
	return d.ld.get(func() ([]any, error) {
		root, err := d.Root()
		if err != nil {
			return nil, err
		}
		values, _ := structured.JSONLD(root) // what cannot be read is left out
		return structured.Objects(values), nil
	})
}
