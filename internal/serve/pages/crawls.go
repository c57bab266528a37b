package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"seine/internal/ops/overview"
)

// crawlPages are the pages about crawls.
type crawlPages struct{ *server }

// perPage is the number of rows on a page of a list.
const perPage = 50

// Pager is the position in a paginated list.
type Pager struct {
	Page, Pages, All int
	First, Last      int // row numbers, from 1
}

// Before returns the number of the previous page, "" if there is none.
func (p Pager) Before() string { return pageNumber(p.Page-1, p.Pages) }

// After returns the number of the next page, "" if there is none.
func (p Pager) After() string { return pageNumber(p.Page+1, p.Pages) }

func pageNumber(n, pages int) string {
	if n < 1 || n > pages {
		return ""
	}
	return strconv.Itoa(n)
}

// cut returns the requested page of a list.
func cut[T any](r *http.Request, all []T) ([]T, Pager, error) {
	n := 1
	if text := r.FormValue("page"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			return nil, Pager{}, badInput{fmt.Errorf("page %q: must be a number from 1", text)}
		}
	}
	p := Pager{Page: n, Pages: max(1, (len(all)+perPage-1)/perPage), All: len(all)}
	p.Page = min(p.Page, p.Pages)
	from := (p.Page - 1) * perPage
	to := min(len(all), from+perPage)
	p.First, p.Last = from+1, to
	return all[from:to], p, nil
}

// crawlsPage is the list of crawls.
type crawlsPage struct {
	Crawls []overview.Crawl
	Pager  Pager
	States []choice
	Any    bool // any crawl exists
}

// choice is a value of a filter, with the number of its rows.
type choice struct {
	Value string
	N     int64
}

func (cp crawlPages) crawls(r *http.Request) (any, error) {
	var p crawlsPage
	look := cp.look(r.Context()).Overview
	if look == nil {
		return p, nil
	}
	text, state := strings.ToLower(r.FormValue("q")), r.FormValue("state")
	counts := make(map[string]int64)
	var chosen []overview.Crawl
	sorted := byActivity(look.Crawls, look.At)
	for i := range sorted {
		c := &sorted[i]
		if !strings.Contains(strings.ToLower(c.Name), text) {
			continue
		}
		word := c.StateInWords().Word
		counts[word]++
		if state == "" || state == word {
			chosen = append(chosen, *c)
		}
	}
	for _, value := range overview.AllStateWords {
		if counts[value] > 0 || value == state {
			p.States = append(p.States, choice{value, counts[value]})
		}
	}
	var err error
	p.Any = len(look.Crawls) > 0
	p.Crawls, p.Pager, err = cut(r, chosen)
	for i := range p.Crawls {
		cp.Feed.Want(p.Crawls[i].Name)
	}
	return p, err
}
