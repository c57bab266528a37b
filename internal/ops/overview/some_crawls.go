package overview

import (
	"context"

	"seine/pkg/stages"
)

// Crawls returns how some crawls stand, in the order of their names. What cannot be known of one is its
// Problem. It asks about those alone, however many there are.
func Crawls(ctx context.Context, bus *stages.Bus, names ...string) ([]Crawl, error) {
	r := Reader{Bus: bus}
	return r.ReadNamed(ctx, names)
}

// ReadNamed does the same, and asks less the next time about crawls that have ended.
func (r *Reader) ReadNamed(ctx context.Context, names []string) ([]Crawl, error) {
	return r.readNamed(ctx, names, nil)
}
