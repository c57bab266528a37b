package messages

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// fnv1a is the hash as published by its authors, and as nats-server computes partition():
// independent of the library that Partition uses.
func fnv1a(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// partitionVectors are golden: other values would send the URLs of a running crawl to partitions
// that have not seen them. docs/reference/wire.md shows them.
var partitionVectors = []struct {
	url, domain string
	of16, of7   int
}{
	{"https://example.org/", "example.org", 1, 5},
	{"http://www.example.org:8080/a?b", "example.org", 1, 5},
	{"https://a.b.example.co.uk/", "example.co.uk", 11, 1},
	{"https://user.github.io/", "user.github.io", 7, 1},
	{"http://localhost:3000/", "localhost", 10, 2},
	{"http://192.0.2.7/", "192.0.2.7", 10, 2},
	{"http://[2001:db8::1]:8080/", "2001:db8::1", 7, 6},
	{"https://xn--bcher-kva.example/", "xn--bcher-kva.example", 4, 6},
	{"https://co.uk/", "co.uk", 3, 2},
}

func TestPartition(t *testing.T) {
	for _, v := range partitionVectors {
		if got := [2]int{Partition(v.url, 16), Partition(v.url, 7)}; got != [2]int{v.of16, v.of7} {
			t.Errorf("%s: %v, want [%d %d]", v.url, got, v.of16, v.of7)
		}
		if want := int(fnv1a(v.domain) % 16); v.of16 != want {
			t.Errorf("%s: %d is not FNV-1a-32 of %s mod 16, which is %d", v.url, v.of16, v.domain, want)
		}
	}
	// Published test vectors of FNV-1a-32.
	for s, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if fnv1a(s) != want {
			t.Errorf("fnv1a(%q) is %#x", s, fnv1a(s))
		}
	}
}

func TestPartitionInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, MaxPartitions).Draw(t, "n")
		u := rapid.OneOf(genURL, rapid.String()).Draw(t, "url")
		if p := Partition(u, n); p < 0 || p >= n || p != Partition(u, n) {
			t.Fatalf("%d of %d", p, n)
		}
	})
}

// The hash of a URL is golden, too: with another one, every URL would count as new.
func TestHashURL(t *testing.T) {
	for url, host := range map[string]string{
		"https://example.org/": "example.org", "https://example.org/a?b": "example.org", "http://example.org:8080/": "example.org:8080",
		"http://[2001:db8::1]:8080/": "[2001:db8::1]:8080", "https://www.example.org/": "www.example.org",
	} {
		sum := sha256.Sum256([]byte(url))
		if got, want := HashURL(url).String(), fmt.Sprintf("%08x%x", fnv1a(host), sum[:12]); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
