package recent

import "testing"

func TestCache_ManyKeys_KeepsWhatIsUsedWithinBounds(t *testing.T) {
	for name, c := range map[string]struct {
		cache *Cache[int, int]
		most  int // maximum number of values
	}{
		"by default": {cache: &Cache[int, int]{}, most: 2 * DefaultMost},
		"by number":  {cache: &Cache[int, int]{Most: 3}, most: 6},
		"by weight":  {cache: &Cache[int, int]{Most: 30, Weight: func(int) int { return 10 }}, most: 6},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 10 * c.most {
				c.cache.GetOrPut(-1, func() int { return i })
				c.cache.Put(i, i)
				if got, ok := c.cache.Get(i); got != i || !ok {
					t.Fatalf("got %d, %t for the newest key, want %d", got, ok, i)
				}
				if got, _ := c.cache.Get(-1); got != 0 {
					t.Fatalf("the key in use was forgotten after %d others", i)
				}
			}
			if n := len(c.cache.now) + len(c.cache.earlier); n > c.most {
				t.Errorf("got %d values, want at most %d", n, c.most)
			}
			if _, ok := c.cache.Get(0); ok {
				t.Error("the oldest key is still there")
			}
		})
	}
}

func TestCache_ValueReplacedOrDeleted_WeighsOnce(t *testing.T) {
	c := Cache[string, int]{Most: 10, Weight: func(v int) int { return v }}
	c.Put("kept", 1)
	for range 100 {
		c.Put("other", 5)
		c.Put("other", 9)
		c.Delete("other")
	}
	if _, ok := c.Get("other"); ok {
		t.Error("a deleted key is still there")
	}
	if got, ok := c.Get("kept"); got != 1 || !ok {
		t.Errorf("got %d, %t for the other key, want 1", got, ok)
	}
	c.Put("heavy", 100) // a value that exceeds the limit is kept until the next
	if got, ok := c.Get("heavy"); got != 100 || !ok {
		t.Errorf("got %d, %t for a value that is too heavy, want 100", got, ok)
	}
}
