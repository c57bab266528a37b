package history

import (
	"slices"
	"testing"

	"seine/pkg/messages"
)

// The bucket of specs also has keys of deletions, which are not crawls.
func TestDeletionsAreNotAskedAsCrawls(t *testing.T) {
	got := others([]string{"news", messages.KeyDeletion("old"), "own", "docs", "news"}, "own")
	if want := []string{"docs", "news"}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
}
