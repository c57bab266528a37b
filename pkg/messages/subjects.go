package messages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Streams. Their configuration is in Streams.
const (
	StreamSeeds   = "SEEDS"
	StreamURLs    = "URLS"
	StreamFetch   = "FETCH"
	StreamResults = "RESULTS"
	StreamPages   = "PAGES"
	StreamRecords = "RECORDS"
	StreamDead    = "DEAD"
)

// Stages, as they appear in dead letters, metrics and service names.
const (
	StageFrontier = "frontier"
	StageFetcher  = "fetcher"
	StageRenderer = "renderer" // a fetcher with a browser
	StageParser   = "parser"
	StageWriter   = "writer"
)

// DefaultCrawl is the crawl that a bare `nats pub seine.seeds.default URL` feeds.
const DefaultCrawl = "default"

// ErrCrawlName is returned for a crawl name that cannot be a subject token.
var ErrCrawlName = errors.New("crawl name must be 1 to 63 of a-z, 0-9, '-' and '_', and start with a letter or digit")

// CheckCrawl reports whether name can name a crawl. The name is a subject
// token, a KV key and a folder of the output, so its alphabet is small.
func CheckCrawl(name string) error {
	ok := name != "" && len(name) <= 63 && name[0] != '-' && name[0] != '_'
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	if !ok {
		return fmt.Errorf("crawl name %q: %w", name, ErrCrawlName)
	}
	return nil
}

// SubjectSeeds is where anyone feeds URLs to a crawl.
func SubjectSeeds(crawl string) string { return "seine.seeds." + crawl }

// Second tokens of the subjects of URLS. Each source has those who may publish it: permissions keep a parser, which
// reads what strangers wrote, from feeding seeds.
const (
	KindOfSeeded    = "seeded"    // by frontiers
	KindOfRedirects = "redirects" // by fetchers and renderers
	KindOfLinks     = "urls"      // by parsers, fetchers and renderers: links, and ends of visits
)

// SubjectURLs carries the candidates of a source for partition p.
func SubjectURLs(from Source, crawl string, p int) string {
	switch from {
	case SourceSeed:
		return partitioned(KindOfSeeded, crawl, p)
	case SourceRedirect:
		return partitioned(KindOfRedirects, crawl, p)
	case SourceLink, SourceUnchanged:
	}
	return partitioned(KindOfLinks, crawl, p)
}

// SubjectFetch carries the requests of partition p that are due now.
func SubjectFetch(crawl string, p int) string { return partitioned("fetch", crawl, p) }

// SubjectRender carries the requests of partition p that are due now and whose pages may need a browser.
func SubjectRender(crawl string, p int) string { return partitioned("render", crawl, p) }

// AnyKind stands for the second token of all subjects of a stream in a filter.
const AnyKind = "*"

// SubjectAny matches all that a stream of partitions has in partition p, of a crawl or, with "*", of all.
func SubjectAny(crawl string, p int) string { return partitioned(AnyKind, crawl, p) }

// SubjectResults carries how the requests of partition p ended.
func SubjectResults(crawl string, p int) string { return partitioned("results", crawl, p) }

// Second tokens of the subjects of pages.
const (
	KindOfPages   = "pages"   // those that the parser takes from PAGES
	KindOfChained = "chained" // those that a parser was handed in memory: for all other readers of pages
)

// SubjectPages carries what was fetched in partition p, for the parser.
func SubjectPages(crawl string, p int) string { return partitioned(KindOfPages, crawl, p) }

// SubjectsToParse are the subjects of the messages of PAGES that the parser takes.
const SubjectsToParse = "seine." + KindOfPages + ".*.*"

// SubjectForParser returns the subject under which the parser takes a page from PAGES, given that of the page,
// chained or not.
func SubjectForParser(subject string) string { return withKind(subject, KindOfPages) }

// withKind returns a subject with another second token.
func withKind(subject, kind string) string {
	if parts := strings.SplitN(subject, ".", 3); len(parts) == 3 {
		return parts[0] + "." + kind + "." + parts[2]
	}
	return subject
}

// SubjectAnswers carries what was answered in partition p and is no page, for archives.
func SubjectAnswers(crawl string, p int) string { return partitioned("answers", crawl, p) }

// IsAnswer reports whether a subject of PAGES is that of an answer that is no page.
func IsAnswer(subject string) bool { return strings.HasPrefix(subject, "seine.answers.") }

// SubjectRecords carries what was extracted in partition p.
func SubjectRecords(crawl string, p int) string { return partitioned("records", crawl, p) }

// IsStray reports whether a subject of a stream is one that no consumer of Seine reads: of no partition, or of
// SEEDS with a wildcard for a crawl.
func IsStray(stream, subject string, partitions int) bool {
	last := subject[strings.LastIndexByte(subject, '.')+1:]
	if stream == StreamSeeds {
		return last == ">"
	}
	p, err := strconv.Atoi(last)
	return err != nil || p < 0 || p >= partitions || strconv.Itoa(p) != last
}

// SubjectDead carries what stage could not handle.
func SubjectDead(stage, crawl string) string { return "seine.dead." + stage + "." + crawl }

// SubjectFrontier is where the owner of partition p answers requests for op.
func SubjectFrontier(op string, p int) string {
	return "seine.frontier." + op + "." + strconv.Itoa(p)
}

// SubjectControl is where any frontier takes orders for a crawl.
const SubjectControl = "seine.frontier.control"

// SubjectInFlight is where the workers of a consumer are asked which messages they hold.
func SubjectInFlight(durable string) string { return "seine.inflight." + durable }

// SubjectOwner is where a process that owns partitions answers processes of the same identity.
func SubjectOwner(group, owner string) string { return "seine.owner." + group + "." + owner }

// SubjectConsumers is where a frontier is asked to make consumers for a user of the
// NATS server who may not make them alone: as the server itself is, by
// $JS.API.CONSUMER.CREATE, with what follows that in place of ">".
func SubjectConsumers(user string) string { return "seine.consumers." + user + ".>" }

func partitioned(kind, crawl string, p int) string {
	return "seine." + kind + "." + crawl + "." + strconv.Itoa(p)
}

// CrawlOf returns the crawl token of a subject of any stream, "" if there is
// none.
func CrawlOf(subject string) string {
	parts := strings.Split(subject, ".")
	switch {
	case len(parts) < 3 || parts[0] != "seine":
		return ""
	case parts[1] == "dead" && len(parts) >= 4:
		return parts[3]
	}
	return parts[2]
}
