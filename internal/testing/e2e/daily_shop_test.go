package e2e

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for database/sql

	"seine/internal/base/jsontext"
	"seine/internal/testing/duckdb"
	"seine/internal/testing/pgserver"
)

// perList is the number of products on a page of the list.
const perList = 25

// product is a product on one day.
type product struct {
	price   int
	comment string // text beside the price on its page, which is in no record
}

// dailyShop is a shop whose products come, go and change from day to day. Its list is in the order
// of the products, so that after a removal the following products move to other pages of the list.
// Each product also has a page, which is missing once the product is gone. Unchanged pages answer
// 304.
type dailyShop struct {
	rand *rand.Rand

	mu       sync.Mutex
	products map[string]product
	requests int
	onReach  map[int]func() // called at that request
}

func newDailyShop(products int) *dailyShop {
	s := &dailyShop{rand: rand.New(rand.NewPCG(1, 2)), products: make(map[string]product), onReach: make(map[int]func())}
	for range products {
		s.products[s.sku()] = product{price: 1 + s.rand.IntN(99)}
	}
	return s
}

func (s *dailyShop) sku() string { return fmt.Sprintf("P-%07d", s.rand.IntN(1e7)) }

// nextDay changes a tenth of the products: some go, some come, some change their price, and some
// pages change their comment.
func (s *dailyShop) nextDay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(maps.Keys(s.products))
	for _, n := range s.rand.Perm(len(all))[:len(all)/10] {
		sku := all[n]
		p := s.products[sku]
		switch s.rand.IntN(4) {
		case 0:
			delete(s.products, sku)
			continue
		case 1:
			s.products[s.sku()] = product{price: 1 + s.rand.IntN(99)}
			continue
		case 2:
			p.price = 1 + p.price%99
		default:
			p.comment += "<!-- again -->"
		}
		s.products[sku] = p
	}
}

// prices returns today's products with their prices.
func (s *dailyShop) prices() map[string]int {
	all := make(map[string]int, len(s.products))
	for sku, p := range s.products {
		all[sku] = p.price
	}
	return all
}

// at calls f at the nth request from now on.
func (s *dailyShop) at(n int, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onReach[s.requests+n] = f
}

func (s *dailyShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	reached, body := s.onReach[s.requests], s.page(r.URL.Path)
	s.mu.Unlock()
	if reached != nil {
		reached()
	}
	if body == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
	http.ServeContent(w, r, "page.html", time.Time{}, strings.NewReader(body))
}

// page returns the page at a path, or "".
func (s *dailyShop) page(path string) string {
	if sku, is := strings.CutPrefix(path, "/p/"); is {
		if p, has := s.products[sku]; has {
			return fmt.Sprintf(`<h1>%s</h1><b class="price">%d</b><p>%s</p>%s`, sku, p.price, description(sku), p.comment)
		}
		return ""
	}
	n, err := strconv.Atoi(strings.TrimPrefix(path, "/list/"))
	all := slices.Sorted(maps.Keys(s.products))
	if err != nil || n*perList >= len(all) && n > 0 {
		return ""
	}
	var b strings.Builder
	for _, sku := range all[n*perList : min(len(all), (n+1)*perList)] {
		fmt.Fprintf(&b, `<p class="item"><a href="/p/%s">%[1]s</a> <b class="price">%d</b></p>`, sku, s.products[sku].price)
	}
	if (n+1)*perList < len(all) {
		fmt.Fprintf(&b, `<a href="/list/%d">next</a>`, n+1)
	}
	return b.String()
}

// description returns a text unlike that of other products; a crawl would take similar ones for a
// trap.
func description(sku string) string {
	words := rand.New(rand.NewPCG(1, uint64(len(sku))))
	for _, digit := range sku {
		words = rand.New(rand.NewPCG(words.Uint64(), uint64(digit)))
	}
	var b strings.Builder
	for range 30 {
		fmt.Fprintf(&b, "%x ", words.Uint32())
	}
	return b.String()
}

// Both kinds of records have the same data: one comes from the lists, with a key, and one from the
// products' pages.
const dailySpec = `
gone: record
records:
  - kind: product
    match: "/list/*"
    each: .item
    key: "{sku}"
    fields: {sku: a, price: {css: .price, as: integer}}
  - kind: detail
    match: "/p/*"
    fields: {sku: h1, price: {css: .price, as: integer}}
`

// dayChange is the state of a product in a run: new, changed, the same or gone.
type dayChange struct {
	run        int64
	sku        string
	change     string
	price, was int // was is 0 unless the price changed
}

func compareDays(a, b dayChange) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.sku, b.sku), cmp.Compare(a.change, b.change))
}

// changesOfDay compares two days.
func changesOfDay(day int, before, now map[string]int) (all []dayChange) {
	for sku, price := range now {
		c := dayChange{run: int64(day), sku: sku, change: "same", price: price}
		if was, had := before[sku]; !had {
			c.change = "new"
		} else if was != price {
			c.change, c.was = "changed", was
		}
		all = append(all, c)
	}
	for sku, price := range before {
		if _, has := now[sku]; !has {
			all = append(all, dayChange{run: int64(day), sku: sku, change: "gone", price: price})
		}
	}
	slices.SortFunc(all, compareDays)
	return all
}

// dailyOutput is a kind of output of the shop's crawls.
type dailyOutput struct {
	flags []string
	place func(t *testing.T, dir string) string // value of --out
	open  func(out string) (*sql.DB, error)     // nil for files
}

func dailyOutputs() map[string]dailyOutput {
	files := func(_ *testing.T, dir string) string { return filepath.Join(dir, "seine-out") }
	return map[string]dailyOutput{
		"JSONL":   {place: files},
		"Parquet": {place: files, flags: []string{"--format", "parquet"}},
		"SQLite": {
			place: func(_ *testing.T, dir string) string { return "sqlite:" + filepath.Join(dir, "shop.db") },
			open:  func(out string) (*sql.DB, error) { return sql.Open("sqlite", strings.TrimPrefix(out, "sqlite:")) },
		},
		"PostgreSQL": {
			place: func(t *testing.T, _ string) string {
				server := pgserver.Start(t)
				return server.DSN(server.Database()) + "?search_path=seine"
			},
			open: func(out string) (*sql.DB, error) { return sql.Open("pgx", out) },
		},
	}
}

// dailySize returns the number of products and of days.
func dailySize(t *testing.T) (products, days int) {
	t.Helper()
	size := cmp.Or(os.Getenv("E2E_SHOP"), "120x5")
	if _, err := fmt.Sscanf(size, "%dx%d", &products, &days); err != nil || products < perList || days < 2 {
		t.Fatalf("E2E_SHOP=%s: must be PRODUCTSxDAYS", size)
	}
	return products, days
}

// A shop is crawled each day, with a kill -9 on every third day. The output agrees with the shop in
// the new, changed, same and gone products of each day, the prices of a product and the present
// products. The queries of the guide find them.
func TestDailyShop(t *testing.T) {
	pgserver.SetEnvironment()
	for name, output := range dailyOutputs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crawlDaily(t, output)
		})
	}
}

func crawlDaily(t *testing.T, output dailyOutput) {
	products, days := dailySize(t)
	shop := newDailyShop(products)
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	p := workspace{t, filepath.Join(dir, "data"), output.place(t, dir)}
	args := append(output.flags, server.URL+"/list/0", "--spec", file(t, "shop.yaml", dailySpec))
	d := daily{t: t, dir: dir, out: p.out}
	for day := range days {
		before := d.prices
		if day > 0 {
			shop.nextDay()
		}
		d.prices = shop.prices()
		d.truth = append(d.truth, changesOfDay(day, before, d.prices)...)
		args = append(args, "--again")
		if day%3 == 1 {
			killDuring(t, shop, p, args)
			args = nil // resumes with the remembered arguments
		}
		p.crawl(args...).within(10*patience, 0)
		args = nil
	}
	if output.open != nil {
		db, err := output.open(p.out)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		d.db = db
	}
	for _, kind := range []string{"product", "detail"} {
		d.check(kind)
	}
	d.checkGuide()
}

// killDuring starts a crawl and kills it after it has visited a part of the shop.
func killDuring(t *testing.T, shop *dailyShop, p workspace, args []string) {
	t.Helper()
	reached := make(chan struct{})
	shop.at(1+shop.rand.IntN(len(shop.products)), func() { close(reached) })
	c := p.crawl(args...)
	select {
	case <-reached:
	case <-c.gone:
		t.Fatalf("it ended before it was killed: %s", c.said())
	}
	c.signal(syscall.SIGKILL)
	<-c.gone
}

// daily has the expected results of the shop's crawls, and their place.
type daily struct {
	t      *testing.T
	dir    string
	out    string
	db     *sql.DB // nil for files
	prices map[string]int
	truth  []dayChange
}

// check compares the output of a kind of record with the truth.
func (d *daily) check(kind string) {
	d.t.Helper()
	d.equal(kind+" by --changes", d.changesByCat(kind), d.truth)
	latest := make(map[string]int)
	for _, r := range d.cat("--latest", "--kind", kind) {
		latest[fmt.Sprint(r["sku"])] += intOf(r["price"])
	}
	if !maps.Equal(latest, d.prices) {
		d.t.Errorf("%s: --latest has %d products, want %d, or other prices", kind, len(latest), len(d.prices))
	}
	if d.db == nil {
		return
	}
	var changes []dayChange
	for _, r := range d.ask("SELECT run, sku, change, price, CASE WHEN change = 'changed' THEN was ->> 'price' END AS was FROM changes_" + kind) {
		changes = append(changes, dayChange{int64(intOf(r["run"])), fmt.Sprint(r["sku"]), fmt.Sprint(r["change"]), intOf(r["price"]), intOf(r["was"])})
	}
	d.equal("changes_"+kind, inDays(changes), d.truth)
	now := make(map[string]int)
	for _, r := range d.ask("SELECT sku, price FROM records_" + kind) {
		now[fmt.Sprint(r["sku"])] += intOf(r["price"])
	}
	if !maps.Equal(now, d.prices) {
		d.t.Errorf("records_%s has %d products, want %d, or other prices", kind, len(now), len(d.prices))
	}
}

// changesByCat returns the changes that seine cat --changes prints.
func (d *daily) changesByCat(kind string) (all []dayChange) {
	for _, r := range d.cat("--changes", "--kind", kind) {
		record, _ := r["record"].(map[string]any)
		was, _ := r["was"].(map[string]any)
		sku, price := record["sku"], record["price"]
		all = append(all, dayChange{int64(intOf(r["run"])), fmt.Sprint(sku), fmt.Sprint(r["change"]), intOf(price), intOf(was["price"])})
	}
	return inDays(all)
}

// inDays renumbers the runs from 0 and sorts.
func inDays(all []dayChange) []dayChange {
	runs := make(map[int64]int64)
	for _, c := range all {
		runs[c.run] = 0
	}
	for n, run := range slices.Sorted(maps.Keys(runs)) {
		runs[run] = int64(n)
	}
	for i := range all {
		all[i].run = runs[all[i].run]
	}
	slices.SortFunc(all, compareDays)
	return all
}

func (d *daily) equal(what string, got, want []dayChange) {
	d.t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			d.t.Errorf("%s: %d changes, the first that is missing is %+v", what, len(got), want[i])
		case i >= len(want) || got[i] != want[i]:
			d.t.Errorf("%s: change %d of %d is %+v, want %+v of %d", what, i, len(got), got[i], want[min(i, len(want)-1)], len(want))
		default:
			continue
		}
		return
	}
}

// cat returns the objects that seine cat prints.
func (d *daily) cat(flags ...string) []map[string]any {
	d.t.Helper()
	c := seine(d.t, d.dir, append([]string{"cat", d.out}, flags...)...)
	c.within(10*patience, 0)
	return objectsOf(d.t, strings.Split(strings.TrimSuffix(c.stdout.String(), "\n"), "\n"))
}

// ask returns the rows of a query.
func (d *daily) ask(query string) (all []map[string]any) {
	d.t.Helper()
	if d.db == nil {
		return objectsOf(d.t, duckdb.Query(d.t, d.dir, query))
	}
	rows, err := d.db.QueryContext(d.t.Context(), query)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	for rows.Next() {
		row, values := make(map[string]any), make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			d.t.Fatal(err)
		}
		for i, name := range names {
			row[name] = *values[i].(*any)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}

func objectsOf(t *testing.T, lines []string) (all []map[string]any) {
	t.Helper()
	for _, line := range lines {
		var o map[string]any
		if err := jsontext.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, o)
	}
	return all
}

// intOf converts a number from JSON or a driver, or returns 0.
func intOf(v any) int {
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return int(f)
}

// checkGuide runs the guide's commands and queries for this output.
func (d *daily) checkGuide() {
	d.t.Helper()
	text, err := os.ReadFile("../../../docs/guides/again.md")
	if err != nil {
		d.t.Fatal(err)
	}
	// Choose a product with a history.
	var sku string
	for _, c := range d.truth {
		if c.change == "changed" {
			sku = c.sku
		}
	}
	ran := 0
	for _, b := range blocksOf(strings.ReplaceAll(string(text), "LA-1000", sku)) {
		lines := strings.Join(b.lines, "\n")
		switch {
		case b.language == "sh" && strings.Contains(lines, "> changes.jsonl") && d.db == nil:
			cmd := exec.CommandContext(d.t.Context(), "sh", "-ec", lines)
			cmd.Dir, cmd.Env = d.dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				d.t.Fatalf("%v: %s", err, out)
			}
		case b.language == "sql" && strings.Contains(lines, "changes.jsonl") == (d.db == nil):
			for _, query := range strings.Split(strings.TrimSuffix(strings.TrimSpace(lines), ";"), ";\n") {
				title, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(query), "-- "), "\n")
				d.checkQuery(title, query, sku)
				ran++
			}
		}
	}
	if ran != 4 {
		d.t.Errorf("the guide has %d queries, want 4", ran)
	}
}

// checkQuery compares the rows of a query in the guide with the truth. The first line of the query
// says what it selects.
func (d *daily) checkQuery(title, query, sku string) {
	d.t.Helper()
	want, last := []string{}, d.truth[len(d.truth)-1].run
	switch title {
	case "What the last run changed, with the former price":
		for _, c := range d.truth {
			if c.run == last && c.change != "same" {
				want = append(want, fmt.Sprintf("change=%s old_price=%d price=%d sku=%s", c.change, c.was, c.price, c.sku))
			}
		}
	case "All prices of a product":
		for _, c := range d.truth {
			if c.sku == sku && c.change != "same" {
				want = append(want, fmt.Sprintf("change=%s price=%d", c.change, c.price))
			}
		}
	case "What each run found":
		counts := make(map[string]int)
		for _, c := range d.truth {
			counts[fmt.Sprintf("change=%s run=%d", c.change, c.run)]++
		}
		for row, n := range counts {
			change, run, _ := strings.Cut(row, " ")
			want = append(want, fmt.Sprintf("%s products=%d %s", change, n, run))
		}
	case "The lowest prices":
		for _, price := range slices.Sorted(maps.Values(d.prices))[:10] {
			want = append(want, fmt.Sprintf("price=%d", price))
		}
	default:
		d.t.Fatalf("a query selects %q, which has no truth here", title)
	}
	var got []string
	rows := d.ask(query)
	runs := make(map[int]int)
	for _, r := range rows {
		runs[intOf(r["run"])] = 0
	}
	for n, run := range slices.Sorted(maps.Keys(runs)) {
		runs[run] = n
	}
	for _, r := range rows {
		var columns []string
		for _, name := range slices.Sorted(maps.Keys(r)) {
			switch value := fmt.Sprint(r[name]); name {
			case "run":
				columns = append(columns, fmt.Sprintf("run=%d", runs[intOf(value)]))
			case "price", "old_price", "products":
				columns = append(columns, fmt.Sprintf("%s=%d", name, intOf(value)))
			case "sku", "change":
				if title != "The lowest prices" {
					columns = append(columns, name+"="+value)
				}
			}
		}
		got = append(got, strings.Join(columns, " "))
	}
	if title != "All prices of a product" && title != "The lowest prices" { // these are ordered
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("%s:\n%s\nfinds %d rows\n%s\nwant %d\n%s", title, query, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
}
