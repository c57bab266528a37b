package writer

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// pageRecord returns a record of about 8 KB of text with the skewed word
// frequencies of one.
func pageRecord(n int) *nats.Msg {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var text strings.Builder
	for text.Len() < 7600 {
		w := int(r.ExpFloat64() * 300)
		fmt.Fprintf(&text, "%s%s ", syllables[w%len(syllables)], syllables[w/len(syllables)%len(syllables)])
	}
	rec := messages.Record{
		URL: fmt.Sprintf("https://site%d.example/page/%d", n%100, n), Status: 200, ContentType: "text/html", Crawl: "bench",
		Title: "Page", Text: text.String(), FetchedAt: time.Unix(int64(n), 0),
		Visit: messages.Visit{URL: messages.HashURL(fmt.Sprint(n)), Round: 1},
	}
	return rec.Msg(n % partitions)
}

var syllables = strings.Fields("the of and to in is ser ver tion ment able ing pre con der ter sta lo ri na mo ke po li du fa gen his kla wer")

// BenchmarkWrite reads records that are in the stream, and writes them; plain
// compresses the same bytes and does nothing else.
func BenchmarkWrite(b *testing.B) {
	const records = 30000
	msgs := make([]*nats.Msg, records)
	for n := range msgs {
		msgs[n] = pageRecord(n)
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			z, err := zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1))
			check(b, err)
			for _, m := range msgs {
				_, _ = z.Write(m.Data)
			}
			check(b, z.Close())
		}
		b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			for _, m := range msgs {
				_ = messages.CheckRecord(m.Header, m.Data)
			}
		}
		b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
	})
	for _, form := range []string{"writer", "encrypted", "objects"} {
		b.Run(form, func(b *testing.B) {
			bus := startBus(b, false)
			for at := 0; at < records; at += 1000 {
				check(b, stages.NewPublisher(bus, "test").Publish(b.Context(), msgs[at:at+1000]...))
			}
			for b.Loop() {
				cfg := testConfig(b)
				cfg.ChunkRecords, cfg.ChunkAge = 10000, crawlspec.Duration(time.Minute)
				switch form {
				case "encrypted":
					cfg.Encrypt = []string{testRecipient}
				case "objects":
					cfg.Format, cfg.Key = "objects", "{crawl}/{url_hash}.json"
				}
				w := start(b, bus, cfg)
				w.catchUp()
				w.end()
				if got := w.Totals().Records; got != records {
					b.Fatalf("%d records", got)
				}
			}
			b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkOutput writes the same records to every place: as new pages, and into databases
// again as pages that are known.
func BenchmarkOutput(b *testing.B) {
	const records = 10000
	b.Run("directory", func(b *testing.B) { benchmarkOutput(b, records, "new", func() Config { return testConfig(b) }) })
	b.Run("S3", func(b *testing.B) {
		store := s3server.Start(b)
		benchmarkOutput(b, records, "new", func() Config { return onS3(b, store) })
	})
	b.Run("SQLite", func(b *testing.B) {
		for _, pages := range []string{"new", "known"} {
			benchmarkOutput(b, records, pages, func() Config { return onSQLite(b) })
		}
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgserver.Start(b)
		for _, pages := range []string{"new", "known"} {
			benchmarkOutput(b, records, pages, func() Config { return onPostgres(b, server) })
		}
	})
}

func benchmarkOutput(b *testing.B, records int, pages string, place func() Config) {
	rounds := map[string]int{"new": 1, "known": 2}[pages]
	b.Run(pages, func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			b.StopTimer()
			bus, cfg := startBus(b, false), place()
			cfg.ChunkRecords, cfg.ChunkAge = 10000, crawlspec.Duration(time.Minute)
			for round := range rounds {
				msgs := make([]*nats.Msg, records)
				for n := range msgs {
					msgs[n] = pageRecord(n)
					msgs[n].Header.Set(nats.MsgIdHdr, fmt.Sprint("round ", round, " of ", n))
				}
				for at := 0; at < records; at += 1000 {
					check(b, stages.NewPublisher(bus, "test").Publish(b.Context(), msgs[at:at+1000]...))
				}
				b.StartTimer()
				began := time.Now()
				w := start(b, bus, cfg)
				w.catchUp()
				w.end()
				took = time.Since(began)
				b.StopTimer()
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(records)/took.Seconds(), "records/s")
	})
}
