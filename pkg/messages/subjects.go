package messages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Streams. Streams returns their configuration.
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

// DefaultCrawl is the crawl that a bare `nats pub seine.seeds.default URL` adds seeds to.
const DefaultCrawl = "default"

// ErrCrawlName is returned for a crawl name that cannot be a subject token.
var ErrCrawlName = errors.New("crawl name must be 1 to 63 of a-z, 0-9, '-' and '_', and start with a letter or digit")

// CheckCrawl returns an error if name is not a valid crawl name. The name is a subject token, a KV
// key and a folder of the output, so its alphabet is small.
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

// SubjectSeeds is the subject for seeds of a crawl.
func SubjectSeeds(crawl string) string { return "seine.seeds." + crawl }

// Second tokens of the subjects of URLS. Each source has its own publishers: permissions keep a
// parser, which reads untrusted input, from publishing seeds.
const (
	KindOfSeeded    = "seeded"    // by frontiers
	KindOfRedirects = "redirects" // by fetchers and renderers
	KindOfLinks     = "urls"      // by parsers, fetchers and renderers: links, and ends of visits
)

// SubjectURLs is the subject for candidates of a source in partition p.
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

// SubjectFetch is the subject for the due requests of partition p.
func SubjectFetch(crawl string, p int) string { return partitioned("fetch", crawl, p) }

// SubjectRender is the subject for the due requests of partition p whose pages may need a browser.
func SubjectRender(crawl string, p int) string { return partitioned("render", crawl, p) }

// AnyKind stands for the second token of all subjects of a stream in a filter.
const AnyKind = "*"

// SubjectAny matches all subjects of partition p in a partitioned stream, of a crawl or, with "*",
// of all.
func SubjectAny(crawl string, p int) string { return partitioned(AnyKind, crawl, p) }

// SubjectResults is the subject for the results of requests in partition p.
func SubjectResults(crawl string, p int) string { return partitioned("results", crawl, p) }

// Second tokens of the subjects of pages.
const (
	KindOfPages   = "pages"   // pages that the parser reads from PAGES
	KindOfChained = "chained" // pages that a parser received in memory: for all other readers of pages
)

// SubjectPages is the subject for the pages of partition p that the parser reads.
func SubjectPages(crawl string, p int) string { return partitioned(KindOfPages, crawl, p) }

// SubjectsToParse are the subjects of PAGES that the parser reads.
const SubjectsToParse = "seine." + KindOfPages + ".*.*"

// SubjectForParser returns the subject under which the parser reads a page from PAGES, given the
// page's subject, chained or not.
func SubjectForParser(subject string) string { return withKind(subject, KindOfPages) }

// withKind replaces the second token of a subject.
func withKind(subject, kind string) string {
	if parts := strings.SplitN(subject, ".", 3); len(parts) == 3 {
		return parts[0] + "." + kind + "." + parts[2]
	}
	return subject
}

// SubjectAnswers is the subject for responses in partition p that are not pages, for archives.
func SubjectAnswers(crawl string, p int) string { return partitioned("answers", crawl, p) }

// IsAnswer reports whether a subject of PAGES is for responses that are not pages.
func IsAnswer(subject string) bool { return strings.HasPrefix(subject, "seine.answers.") }

// SubjectRecords is the subject for the records of partition p.
func SubjectRecords(crawl string, p int) string { return partitioned("records", crawl, p) }

// IsStray reports whether no consumer of Seine reads a subject of a stream: it has no valid
// partition, or is one of SEEDS with a wildcard for a crawl.
func IsStray(stream, subject string, partitions int) bool {
	last := subject[strings.LastIndexByte(subject, '.')+1:]
	if stream == StreamSeeds {
		return last == ">"
	}
	p, err := strconv.Atoi(last)
	return err != nil || p < 0 || p >= partitions || strconv.Itoa(p) != last
}

// SubjectDead is the subject for messages that a stage could not handle.
func SubjectDead(stage, crawl string) string { return "seine.dead." + stage + "." + crawl }

// SubjectFrontier is the subject on which the owner of partition p answers queries of op.
func SubjectFrontier(op string, p int) string {
	return "seine.frontier." + op + "." + strconv.Itoa(p)
}

// SubjectControl is the subject on which any frontier accepts commands for a crawl.
const SubjectControl = "seine.frontier.control"

// SubjectInFlight is the subject on which the workers of a consumer report which messages they
// hold.
func SubjectInFlight(durable string) string { return "seine.inflight." + durable }

// SubjectOwner is the subject on which a process that owns partitions answers processes with the
// same identity.
func SubjectOwner(group, owner string) string { return "seine.owner." + group + "." + owner }

// SubjectConsumers is the subject on which a frontier creates consumers for a user of the NATS
// server who may not create them directly. The requests are those of $JS.API.CONSUMER.CREATE, with
// its last tokens in place of ">".
func SubjectConsumers(user string) string { return "seine.consumers." + user + ".>" }

func partitioned(kind, crawl string, p int) string {
	return "seine." + kind + "." + crawl + "." + strconv.Itoa(p)
}

// CrawlOf returns the crawl token of a subject of any stream, "" if there is none.
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
