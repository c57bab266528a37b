package writer

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

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
	b.Run("writer", func(b *testing.B) {
		bus := startBus(b, false)
		for at := 0; at < records; at += 1000 {
			check(b, stages.NewPublisher(bus, "test").Publish(b.Context(), msgs[at:at+1000]...))
		}
		for b.Loop() {
			cfg := testConfig(b)
			cfg.ChunkRecords, cfg.ChunkAge = 10000, messages.Duration(time.Minute)
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

// BenchmarkZstdWindow says what the window of an open chunk costs.
func BenchmarkZstdWindow(b *testing.B) {
	var text []byte
	for n := range 3000 {
		data, _ := json.Marshal(json.RawMessage(pageRecord(n).Data))
		text = append(text, append(data, '\n')...)
	}
	for _, window := range []int{256 << 10, zstdWindow, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprint(window>>10, "KiB"), func(b *testing.B) {
			var before, after runtime.MemStats
			var size counter
			for b.Loop() {
				size = 0
				runtime.GC()
				runtime.ReadMemStats(&before)
				z, err := zstd.NewWriter(&size, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
				check(b, err)
				_, _ = z.Write(text)
				check(b, z.Flush())
				runtime.GC()
				runtime.ReadMemStats(&after)
				check(b, z.Close())
			}
			b.SetBytes(int64(len(text)))
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
			b.ReportMetric(float64(size)/float64(len(text)), "ratio")
		})
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
