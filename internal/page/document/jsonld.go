package document

import (
	"seine/internal/page/structured"
)

// JSONLD returns the objects of the page's JSON-LD, in document order, in the types of JSON
// (structured.Objects).
func (d *Document) JSONLD() ([]any, error) {
	return d.ld.get(func() ([]any, error) {
		root, err := d.Root()
		if err != nil {
			return nil, err
		}
		values, _ := structured.JSONLD(root) // unreadable scripts are omitted
		return structured.Objects(values), nil
	})
}
