package format

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"seine/internal/base/cputime"
)

// BenchmarkZstdWindow measures the memory cost of the window of an open chunk.
func BenchmarkZstdWindow(b *testing.B) {
	var text []byte
	for n := range 3000 {
		text = fmt.Appendf(text, "{\"url\":\"https://site%d.example/page/%d\",\"status\":200,\"text\":%q}\n", n%100, n, words(n))
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
				fatal(b, err)
				_, _ = z.Write(text)
				fatal(b, z.Flush())
				runtime.GC()
				runtime.ReadMemStats(&after)
				fatal(b, z.Close())
			}
			b.SetBytes(int64(len(text)))
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
			b.ReportMetric(float64(size)/float64(len(text)), "ratio")
		})
	}
}

// BenchmarkZstdFrame measures the cost of separately readable frames.
func BenchmarkZstdFrame(b *testing.B) {
	_, lines := pages(8000)
	raw := 0
	for _, r := range lines {
		raw += len(r.Data) + 1
	}
	var whole counter
	for _, frame := range []int{1 << 30, 16 << 20, 4 << 20, 1 << 20, 256 << 10} {
		b.Run(fmt.Sprint(frame>>10, "KiB"), func(b *testing.B) {
			var size counter
			var took time.Duration
			for b.Loop() {
				size = 0
				f := jsonLines{"jsonl.zst", newZstandard(frame)}
				start := cputime.Used()
				e, err := f.NewEncoder(&size, group)
				fatal(b, err)
				for _, r := range lines {
					fatal(b, e.Append(r))
				}
				fatal(b, e.Close())
				took += cputime.Used() - start
			}
			whole = max(whole, 1)
			if frame == 1<<30 {
				whole = size
			}
			b.ReportMetric(float64(raw)*float64(b.N)/1e6/took.Seconds(), "MB/s")
			b.ReportMetric(100*(float64(size)/float64(whole)-1), "%larger")
		})
	}
}
