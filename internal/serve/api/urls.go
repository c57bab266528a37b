package api

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"seine/internal/ops/history"
	"seine/internal/serve/caller"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// urlOperations are the operations on hosts, URLs and seeds.
type urlOperations struct{ *API }

type explainInput struct {
	CrawlPath
	URL    string `query:"url" required:"true" maxLength:"8192" doc:"The URL to explain."`
	Brief  bool   `query:"brief" doc:"Return only what the frontier stores, without reading the streams."`
	Within string `query:"within" default:"1m" doc:"How far from the known times of its visits their messages are looked for, as 1m."`
}

func (u urlOperations) registerURLs() {
	register(u.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/explain", id: "explain-url", shared: true, tag: "urls", scope: caller.Read, errors: []int{404},
		summary: "History of a URL", about: "In all stages: its state and the reason, its requests, page, records and dead letters.",
	}, u.explain)
	register(u.API, operation{
		method: http.MethodGet, path: "/crawls/{crawl}/failures", id: "list-failures", shared: true, tag: "urls", scope: caller.Read, errors: []int{404},
		summary: "URLs whose last visit failed", about: "Of all classes or one, in parts, each with its reason.",
	}, u.listFailures)
}

func (u urlOperations) explain(ctx context.Context, in *explainInput) (*body[*history.History], error) {
	within, err := time.ParseDuration(in.Within)
	if err != nil || within <= 0 || within > time.Hour {
		return nil, problemf(http.StatusUnprocessableEntity, "within %q: must be positive and at most 1h, such as 1m", in.Within)
	}
	return ask(ctx, u.lookAtCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (*history.History, error) {
		return history.Find(ctx, bus, history.Options{Crawl: in.Crawl, URL: in.URL, Within: within, Brief: in.Brief})
	})
}

// lookFor bounds the search for failures, which may be few among many URLs. The page then has the
// failures found so far and a cursor.
const lookFor = 5 * time.Second

type failuresInput struct {
	CrawlPath
	PageInput
	Class string `query:"class" maxLength:"64" doc:"Only what failed by this class, such as timeout or server_error; parse_error is the parser's, host_given_up the frontier's."`
}

func (u urlOperations) listFailures(ctx context.Context, in *failuresInput) (*body[page[frontierapi.FailedURL]], error) {
	if in.Class != "" {
		if err := frontierapi.CheckFailure(in.Class); err != nil {
			return nil, problemf(http.StatusUnprocessableEntity, "%v", err)
		}
	}
	partition, after, err := failureCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	return ask(ctx, u.ofCrawl(in.Crawl), func(ctx context.Context, bus *stages.Bus) (page[frontierapi.FailedURL], error) {
		p, client := pageOf[frontierapi.FailedURL](nil, ""), frontierapi.Client{Bus: bus}
		for began := time.Now(); partition < bus.Layout.Partitions && len(p.Items) < in.Limit && time.Since(began) < lookFor; {
			part, err := client.FailedPage(ctx, in.Crawl, in.Class, partition, after, in.Limit-len(p.Items))
			if err != nil {
				return p, err
			}
			p.Items = append(p.Items, part.URLs...)
			if after = part.Next; after == "" {
				partition++
			}
		}
		if partition < bus.Layout.Partitions {
			p.Next = strconv.Itoa(partition) + ":" + after
		}
		return p, nil
	})
}

// failureCursor parses a cursor: the next partition, and the last URL hash in it.
func failureCursor(cursor string) (partition int, after string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	n, after, ok := strings.Cut(cursor, ":")
	if after != "" && !isURLHash(after) {
		return 0, "", badCursor()
	}
	if partition, err = strconv.Atoi(n); !ok || err != nil || partition < 0 {
		return 0, "", badCursor()
	}
	return partition, after, nil
}

// isURLHash reports whether a text is the hash of a URL.
func isURLHash(text string) bool {
	hash, err := hex.DecodeString(text)
	return err == nil && len(hash) == len(messages.URLHash{})
}
