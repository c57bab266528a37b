package writer

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
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

// pageRecord returns a page record with about 8 KB of text, whose words have a skewed frequency
// like natural text.
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

// BenchmarkWrite reads records from the stream and writes them. plain only compresses the same
// bytes.
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

// itemRecord returns a record of a rule, about 400 bytes with a key. Each page has ten of them.
func itemRecord(n, round int) *nats.Msg {
	page := n / 10
	visit := messages.Visit{URL: messages.HashURL(fmt.Sprint(page)), Round: uint64(round + 1)}
	line := fmt.Appendf(nil, `{"kind":"product","sku":"sku-%d","name":"Thing number %d","price":%d.99,"stock":%d,"key":"sku-%d",`+
		`"url":"https://site%d.example/page/%d","fetched_at":%q,"visit":%q,"run":%d}`,
		n, n, n%97+n%10/9*round, n%13, n, page%100, page, time.Unix(int64(page+round*1e6), 0).UTC().Format(time.RFC3339Nano), visit, round)
	return messages.RecordMsg("bench", page%partitions, fmt.Sprint(messages.VisitID("bench", visit), ".product.", n%10), line)
}

// outputLoads are the database loads: new pages, known pages, new items, and known items of which
// some have changed.
var outputLoads = []string{"new", "known", "new items", "known items"}

// BenchmarkOutput writes the same records to every kind of output: as new pages, and into databases
// also as known pages.
func BenchmarkOutput(b *testing.B) {
	const records = 10000
	b.Run("directory", func(b *testing.B) { benchmarkOutput(b, records, "new", func() Config { return testConfig(b) }) })
	b.Run("S3", func(b *testing.B) {
		store := s3server.Start(b)
		benchmarkOutput(b, records, "new", func() Config { return onS3(b, store) })
	})
	b.Run("SQLite", func(b *testing.B) {
		for _, pages := range outputLoads {
			benchmarkOutput(b, records, pages, func() Config { return onSQLite(b) })
		}
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgserver.Start(b)
		for _, pages := range outputLoads {
			benchmarkOutput(b, records, pages, func() Config { return onPostgres(b, server) })
		}
	})
}

func benchmarkOutput(b *testing.B, records int, pages string, place func() Config) {
	rounds := 1
	if strings.HasPrefix(pages, "known") {
		rounds = 2
	}
	b.Run(pages, func(b *testing.B) {
		var took, cpu, making time.Duration
		for b.Loop() {
			b.StopTimer()
			bus, cfg := startBus(b, false), place()
			cfg.ChunkRecords, cfg.ChunkAge = 10000, crawlspec.Duration(time.Minute)
			for round := range rounds {
				began := cpuTime()
				msgs := make([]*nats.Msg, records)
				for n := range msgs {
					if strings.HasSuffix(pages, "items") {
						msgs[n] = itemRecord(n, round)
						continue
					}
					msgs[n] = pageRecord(n)
					msgs[n].Header.Set(nats.MsgIdHdr, fmt.Sprint("round ", round, " of ", n))
				}
				making = cpuTime() - began
				for at := 0; at < records; at += 1000 {
					check(b, stages.NewPublisher(bus, "test").Publish(b.Context(), msgs[at:at+1000]...))
				}
				b.StartTimer()
				opened, used := time.Now(), cpuTime()
				w := start(b, bus, cfg)
				w.catchUp()
				w.end()
				took, cpu = time.Since(opened), cpuTime()-used
				b.StopTimer()
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(records)/took.Seconds(), "records/s")
		b.ReportMetric(float64(cpu.Microseconds())/float64(records), "CPU-µs/record")
		b.ReportMetric(float64(cpu)/float64(making), "CPU/making") // cancels out the effect of a busy machine
	})
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
