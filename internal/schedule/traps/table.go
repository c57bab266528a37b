package traps

import "math"

// table counts frequent keys in bounded memory. It grows from a few entries to its maximum size,
// and is exact until then. After that it keeps frequent keys and drops others, as in Misra and
// Gries, Finding Repeated Elements, 1982. A new key that finds its bucket full is dropped and takes
// a life from each entry there; an entry without lives is removed. A dropped key starts again, so
// counts err downwards. A key is kept if its share of all occurrences exceeds two divided by the
// table's size.
type table[V any] struct {
	keys  []uint64 // 0 means free
	lives []uint8
	vals  []V
	most  int // maximum entries
}

const (
	bucketSize = 8 // the keys fill one cache line
	tableFirst = 2 * bucketSize
)

func newTable[V any](most int) table[V] { return table[V]{most: most} }

// bucket returns the start of the bucket of a key.
func (t *table[V]) bucket(key uint64) int {
	return int(key) & (len(t.keys) - 1) &^ (bucketSize - 1)
}

// find returns the value of a key, nil if there is none. A lookup adds a life: a shape must not be
// dropped because its URLs are excluded.
func (t *table[V]) find(key uint64) *V {
	if len(t.keys) == 0 {
		return nil
	}
	b := t.bucket(key)
	for i, k := range t.keys[b : b+bucketSize] {
		if k == key {
			return t.use(b + i)
		}
	}
	return nil
}

// use adds a life to entry i.
func (t *table[V]) use(i int) *V {
	if t.lives[i] < math.MaxUint8 {
		t.lives[i]++
	}
	return &t.vals[i]
}

// touch returns the value of a key, creating it if there is none; nil if there is no room for it.
func (t *table[V]) touch(key uint64) *V {
	if len(t.keys) == 0 {
		t.resize(tableFirst)
	}
	for {
		b := t.bucket(key)
		free := -1
		for i, k := range t.keys[b : b+bucketSize] {
			if k == key {
				return t.use(b + i)
			}
			if k == 0 {
				free = b + i
			}
		}
		switch {
		case free >= 0:
			t.keys[free], t.lives[free] = key, 1
			return &t.vals[free]
		case len(t.keys) < t.most:
			t.resize(2 * len(t.keys))
		default:
			t.age(b)
			return nil
		}
	}
}

// age takes a life from each entry of a bucket.
func (t *table[V]) age(b int) {
	for i := b; i < b+bucketSize; i++ {
		if t.lives[i]--; t.lives[i] == 0 {
			var none V
			t.keys[i], t.vals[i] = 0, none
		}
	}
}

// resize makes room for n entries. The entries of a bucket go to two buckets of the larger table,
// so they have room there.
func (t *table[V]) resize(n int) {
	old := *t
	t.keys, t.lives, t.vals = make([]uint64, n), make([]uint8, n), make([]V, n)
	for i, key := range old.keys {
		if key == 0 {
			continue
		}
		j := t.bucket(key)
		for t.keys[j] != 0 {
			j++
		}
		t.keys[j], t.lives[j], t.vals[j] = key, old.lives[i], old.vals[i]
	}
}

// each calls f with every entry.
func (t *table[V]) each(f func(key uint64, lives uint8, v *V)) {
	for i, key := range t.keys {
		if key != 0 {
			f(key, t.lives[i], &t.vals[i])
		}
	}
}

// lend returns the value of a key as touch does, and adds lives.
func (t *table[V]) lend(key uint64, lives uint8) *V {
	v := t.touch(key)
	for ; v != nil && lives > 1; lives-- {
		t.find(key)
	}
	return v
}
