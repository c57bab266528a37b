package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"seine/internal/ops/lookup"
	"seine/internal/ops/records"
	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
	"seine/pkg/stages/writer"
)

// recordOperations are the operations on the output.
type recordOperations struct{ *API }

func (o recordOperations) registerRecords() {
	register(o.API, operation{
		method: http.MethodGet, path: "/records", id: "list-records", tag: "records", scope: caller.Records, errors: []int{404, 409},
		summary: "Records of the output", about: "Committed records, in the order of the commit log. A request reads a limited number of files; a response with a cursor and no items is not the last.",
	}, o.listRecords)
	register(o.API, operation{
		method: http.MethodGet, path: "/files", id: "list-files", tag: "records", scope: caller.Records, errors: []int{404, 409},
		summary: "Files of the output", about: "Committed files, newest first. A request reads a limited number of commits; a response with a cursor and no items is not the last.",
	}, o.listFiles)
	o.registerContent()
	o.registerTail()
}

type filesInput struct {
	CrawlQuery
	PageInput
	WriterQuery
}

// WriterQuery selects an output.
type WriterQuery struct {
	Writer string `query:"writer" maxLength:"64" default:"default" doc:"Name of the writer whose output is read."`
}

type recordsInput struct {
	CrawlQuery
	PageInput
	Kind string `query:"kind" maxLength:"64" doc:"Only of this kind; page are those of whole pages."`
	File string `query:"file" maxLength:"4096" doc:"Only of this file of GET …/files, whose cursor leads there at once."`
	WriterQuery
}

func (o recordOperations) listFiles(ctx context.Context, in *filesInput) (*body[page[records.File]], error) {
	o.flush(ctx, in.Cursor)
	out, err := o.output(ctx, in.Writer)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	part, err := records.Files(ctx, out, in.Crawl, in.Cursor, in.Limit)
	if err == nil && len(part.Files) == 0 && part.Next == "" && in.Cursor == "" {
		err = o.checkThere(ctx, in.Crawl)
	}
	return answerOf(pageOf(part.Files, part.Next), err)
}

type contentInput struct {
	Cursor string `query:"cursor" required:"true" maxLength:"4096" doc:"cursor of a file of GET …/files."`
	WriterQuery
}

func (o recordOperations) registerContent() {
	registerStream(o.API, operation{
		method: http.MethodGet, path: "/files/content", id: "download-file", tag: "records", scope: caller.Records, errors: []int{404, 409},
		summary: "A file of the output", about: "As it was committed.",
	}, "application/octet-stream", o.tails, func(ctx context.Context, in *contentInput) (func(huma.Context), error) {
		out, err := o.output(ctx, in.Writer)
		if err != nil {
			return nil, err
		}
		f, content, err := records.Open(out, in.Cursor)
		if err != nil {
			_ = out.Close() // nothing was written
			return nil, err
		}
		return func(ctx huma.Context) {
			defer out.Close()
			defer content.Close()
			ctx.SetHeader("Content-Length", strconv.FormatInt(f.Bytes, 10))
			ctx.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(f.Path)}))
			if _, err := io.Copy(newStream(ctx), content); err != nil {
				o.Log.Debug("a download ended early", "file", f.Path, "error", err)
			}
		}, nil
	})
}

// checkThere returns an error if the crawl does not exist. The output may outlive the crawl, so
// callers check only if the output has nothing of it. "" means all crawls.
func (o recordOperations) checkThere(ctx context.Context, crawl string) error {
	if crawl == "" {
		return nil
	}
	err := o.ofCrawl(crawl)(ctx, func(context.Context, *stages.Bus) error { return nil })
	if _, none := lookup.IsNotFound(err); none || errors.Is(err, cluster.ErrEmpty) {
		return err
	}
	return nil // the output exists, even if the cluster is unavailable
}

func (o recordOperations) listRecords(ctx context.Context, in *recordsInput) (*body[page[record]], error) {
	p := page[record]{Items: []record{}}
	o.flush(ctx, in.Cursor)
	out, err := o.output(ctx, in.Writer)
	if err != nil {
		return nil, cmp.Or(o.checkThere(ctx, in.Crawl), err)
	}
	defer out.Close()
	part, err := records.Read(ctx, out, records.Choice{Crawl: in.Crawl, Kind: in.Kind, File: in.File}, in.Cursor, in.Limit)
	for _, r := range part.Records {
		p.Items = append(p.Items, record{raw(r)})
	}
	if p.Next = part.Next; err == nil && len(p.Items) == 0 && p.Next == "" && in.Cursor == "" {
		if err = o.checkThere(ctx, in.Crawl); err == nil && part.Meant != "" {
			err = problemf(http.StatusNotFound, "no record is of kind %s; did you mean %s?", in.Kind, part.Meant)
		}
	}
	return answerOf(p, err)
}

// flushTime bounds the wait of a list for the writers.
const flushTime = 2 * time.Second

// flush makes a crawl in this process commit its records before the first page of a list.
func (o recordOperations) flush(ctx context.Context, cursor string) {
	if o.Flush == nil || cursor != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	o.Flush(ctx)
}

// output opens the output of a writer, according to the cluster.
func (o recordOperations) output(ctx context.Context, name string) (output.Output, error) {
	place := o.Out
	if place == "" {
		err := o.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error {
			b, _, err := output.ReadBinding(ctx, bus, name)
			if err == nil && b != nil {
				place = b.Out
			}
			return err
		})
		if err != nil {
			return output.Output{}, err
		}
	}
	if place == "" {
		return output.Output{}, problemf(http.StatusNotFound, "no writer named %s has written anything yet: start one, or name another", name)
	}
	out, err := writer.OpenOutput(place, name, bucket.Options{})
	if err != nil {
		return out, problemf(http.StatusNotFound, "the output %s cannot be read here: %v (seine serve --out gives its location on this machine)", writer.Redact(place), err)
	}
	return out, nil
}

type tailInput struct {
	CrawlQuery
	Kind string `query:"kind" maxLength:"64" doc:"Only of this kind."`
}

func (o recordOperations) registerTail() {
	registerStream(o.API, operation{
		method: http.MethodGet, path: "/records/tail", id: "tail-records", tag: "records", scope: caller.Records, errors: []int{404},
		summary: "Stream of new records", about: "Newline-delimited JSON, one record a line, from now on. A client that reads too slowly is disconnected.",
	}, "application/x-ndjson", o.tails, func(ctx context.Context, in *tailInput) (func(huma.Context), error) {
		err := o.Cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error { return checkTail(ctx, o.API, bus, in.Crawl) })
		return func(ctx huma.Context) { o.sendTail(ctx, in) }, err
	})
}

// checkTail rejects a tail that would never get a record.
func checkTail(ctx context.Context, a *API, bus *stages.Bus, crawl string) error {
	if a.Cluster.IsStored(bus) {
		return problemf(http.StatusConflict, "no crawl is running: start seine crawl, or read GET %s/records", Base)
	}
	if crawl == "" {
		return nil
	}
	return lookup.Crawl(ctx, bus, crawl)
}

func (o recordOperations) sendTail(ctx huma.Context, in *tailInput) {
	s := newStream(ctx)
	s.send(nil) // sends the header, so that the client knows that the stream is open
	err := o.Cluster.Do(ctx.Context(), func(ctx context.Context, bus *stages.Bus) error {
		return records.Tail(ctx, bus, records.Choice{Crawl: in.Crawl, Kind: in.Kind}, func(record []byte) bool {
			return s.send(append(record, '\n'))
		})
	})
	if err != nil {
		o.Log.Debug("a stream of records ended", "error", err)
	}
}
