package scriptweb

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// get requests a path as a client without JavaScript does.
func get(t *testing.T, w *Web, path string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(w.URL(path)) // from a server in this process
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestRawPagesShowNothing(t *testing.T) {
	w := Start(t)
	names := map[string]bool{}
	for _, p := range Pages() {
		t.Run(p.Name, func(t *testing.T) {
			if names[p.Name] {
				t.Error("two pages have this name")
			}
			names[p.Name] = true
			status, body := get(t, w, p.Path)
			if status != http.StatusOK {
				t.Fatalf("answered %d", status)
			}
			if strings.Contains(body, "{{") {
				t.Error("an address is not filled in")
			}
			for _, text := range append(p.Text, p.Links...) {
				if strings.Contains(body, text) {
					t.Errorf("%q is there without JavaScript", text)
				}
			}
			if p.RedirectTo != "" && !strings.HasPrefix(p.RedirectTo, "//") {
				if status, _ := get(t, w, p.RedirectTo); status != http.StatusOK && status != http.StatusFound {
					t.Errorf("leads to %s, which answers %d", p.RedirectTo, status)
				}
			}
		})
	}
}

func TestPagesSayWhatCounts(t *testing.T) {
	for _, p := range Pages() {
		if len(p.Text) == 0 && p.RedirectTo == "" && !p.Fails && !p.MayFail && len(p.NotAsked) == 0 {
			t.Errorf("%s says nothing of what must be found", p.Name)
		}
		if p.Path[0] != '/' {
			t.Errorf("%s has no path", p.Name)
		}
	}
}

func TestShopIsMadeByNumber(t *testing.T) {
	w := Start(t)
	_, index := get(t, w, ShopPath(1000, 50))
	if s, a := strings.Count(index, `"/static/`), strings.Count(index, `"/app/`); s != 1000 || a != 50 {
		t.Errorf("the shop links %d and %d pages", s, a)
	}
	_, lights := get(t, w, LightPath(7))
	if n := strings.Count(lights, `"/light/`); n != 7 {
		t.Errorf("the index of light pages links %d", n)
	}
	_, static := get(t, w, "/static/12")
	if !strings.Contains(static, StaticText(12)) || len(static) < 4<<10 || len(static) > 6<<10 {
		t.Errorf("a static page of %d bytes:\n%s", len(static), static)
	}
	for _, path := range []string{"/app/12", "/light/12"} {
		if _, shell := get(t, w, path); strings.Contains(shell, AppText(12)) || strings.Contains(shell, LightText(12)) {
			t.Errorf("%s shows its text without JavaScript", path)
		}
	}
	for _, path := range []string{"/static/x", "/shop/1", "/shop/1/2/3", "/lights/-1", "/shop/1000000/1", "/missing"} {
		if status, _ := get(t, w, path); status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	w := Start(t)
	get(t, w, "/fetch-list/items.json")
	get(t, w, "/paginated-api/items?from=1&count=2")
	get(t, w, "//other/secret/fetch")
	for path, want := range map[string]int{
		"/fetch-list/items.json": 1, "/paginated-api/items": 1, "/paginated-api/items?from=1&count=2": 1,
		"/paginated-api/items?from=2": 0, "/secret/fetch": 1, "/other": 0,
	} {
		if got := w.CountRequests(path); got != want {
			t.Errorf("%s was asked for %d times, counted as %d", path, want, got)
		}
	}
	if log := w.Requests(); len(log) != 3 || log[2].Host != w.Other()[len("http://"):] {
		t.Errorf("the log is %+v", log)
	}
}
