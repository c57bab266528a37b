package main

import "testing"

func testWeb(mix string) *web {
	return newWeb(&options{URLs: 100_013, Hosts: 1000, Links: 50, Partitions: 16, Mix: mix})
}

func TestEveryURLIsNewOnce(t *testing.T) {
	for _, mix := range []string{mixSite, mixUniform} {
		w := testWeb(mix)
		next, repeats, onOwn := 0, 0, 0
		for k := range w.pages {
			onPage := make(map[int]bool)
			for _, i := range w.links(k, nil) {
				switch {
				case onPage[i]:
					t.Fatalf("%s: page %d has URL %d twice", mix, k, i)
				case i == next:
					next++
				case i > next || i >= k*w.fresh:
					t.Fatalf("%s: page %d has URL %d, the next is %d", mix, k, i, next)
				default:
					repeats++
				}
				onPage[i] = true
				if w.hostOf(i) == int(w.host[k]) {
					onOwn++
				}
			}
		}
		if next != w.urls {
			t.Errorf("%s: %d URLs, want %d", mix, next, w.urls)
		}
		if float64(repeats) < 0.99*float64(w.urls) || repeats > w.urls {
			t.Errorf("%s: %d repeats of %d URLs", mix, repeats, w.urls)
		}
		if share := float64(onOwn) / float64(next+repeats); mix == mixSite && (share < 0.65 || share > 0.85) {
			t.Errorf("%.2f of the links stay on their host, want about 0.7: four in five, but for a host's first page", share)
		}
	}
}

func TestURLTellsItsIndex(t *testing.T) {
	w := testWeb(mixSite)
	for i := range w.urls {
		if got, err := w.indexOf(w.url(i)); err != nil || got != i {
			t.Fatalf("index of %s is %d, %v; want %d", w.url(i), got, err, i)
		}
	}
	for _, bad := range []string{"", "https://www.site1.test/", "https://www.site1.test/a-1", w.url(7) + "0000000"} {
		if i, err := w.indexOf(bad); err == nil {
			t.Errorf("%q is taken for URL %d", bad, i)
		}
	}
}
