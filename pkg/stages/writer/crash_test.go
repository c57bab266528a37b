package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// steps are all steps of a commit to a directory, in order.
var steps = []string{
	output.StepWrite, output.StepAppended, output.StepSynced, output.StepRenamed, output.StepFinished,
	output.StepEntrySynced, output.StepEntryRenamed, output.StepCommitted, output.StepAcked, output.StepIndexed,
}

// rowSteps are the steps of a commit to a database.
var rowSteps = []string{
	output.StepWrite, output.StepAppended, output.StepFinished,
	sqlsink.StepBegun, sqlsink.StepEntry, sqlsink.StepRows, output.StepEntrySynced, output.StepEntryRenamed,
	output.StepCommitted, output.StepAcked, output.StepIndexed,
}

// A copy of the output directory taken between two steps of a commit is in the state that a kill at
// that point leaves. A writer that continues from it must end with every record once, with and
// without the index of the killed writer.
func TestCrashBetweenSteps(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	for name, c := range contents {
		for _, step := range steps {
			for _, keep := range c.keepIndex {
				t.Run(fmt.Sprintf("%s/%s/index=%v", name, step, keep), func(t *testing.T) {
					t.Parallel()
					crashAt(t, c, step, keep)
				})
			}
		}
	}
}

func crashAt(t *testing.T, c content, step string, keepIndex bool) {
	bus := startBus(t, false)
	c.publish(t, bus, "a", 0, c.a)
	c.publish(t, bus, "b", 0, c.b)
	cfg := c.config(testConfig(t))
	killed := filepath.Join(t.TempDir(), "killed")
	var once sync.Once
	reached := make(chan struct{})
	var mu sync.Mutex // blocks the other partitions during the copy
	passed := 0
	first := start(t, bus, cfg, func(w *Writer) {
		w.minWait, w.maxWait = time.Hour, time.Hour
		w.hook = func(at string) error {
			mu.Lock()
			defer mu.Unlock()
			if at == step {
				passed++
			}
			select {
			case <-reached:
				return errCut
			default:
			}
			if at != step || passed < 3 { // so that some is committed before
				return nil
			}
			once.Do(func() {
				copyOut(t, killed, cfg.Out)
				close(reached)
			})
			return errCut
		}
	})
	<-reached
	first.stop()
	if err := <-first.done; err == nil {
		t.Error("the first writer says that it committed everything")
	}
	if !keepIndex {
		check(t, os.RemoveAll(filepath.Join(cfg.State, "identities")))
	}
	cfg.Out = killed
	second := start(t, bus, cfg)
	second.catchUp()
	second.end()
	c.want(t, cfg, map[string]int{"a": c.a, "b": c.b})
	wantTidy(t, cfg)
}

// copyOut copies an output directory in which nothing is committed meanwhile. It retries on missing
// files: a partition that is being acquired writes its owner file under a temporary name first.
func copyOut(t *testing.T, to, from string) {
	err := os.CopyFS(to, os.DirFS(from))
	for errors.Is(err, fs.ErrNotExist) {
		if err = os.RemoveAll(to); err == nil {
			err = os.CopyFS(to, os.DirFS(from))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// content is a kind of output content to test a writer with.
type content struct {
	config  func(Config) Config
	publish func(t testing.TB, bus *stages.Bus, crawl string, from, to int)
	want    func(t testing.TB, cfg Config, want map[string]int) // checks that each is there once
	a, b    int                                                 // records of each crawl, where the number is free
	// keepIndex lists the cases of a killed writer: whether its index is kept.
	keepIndex []bool
}

// contents are the contents that killed writers write. The state of the index is independent of the
// files, so one content tests both cases.
var contents = map[string]content{
	"records": {plainConfig, publish, wantExactly, 300, 130, []bool{false, true}},
	"batches": {plainConfig, publishInBatches, wantExactly, 300, 130, []bool{false, true}},
	"objects": {objectsOf("{crawl}/{field:n}.json"), publish, wantExactly, 300, 130, nil},
	// Objects replace each other.
	"slots":           {objectsOf("{crawl}/{field:slot}.json"), publish, wantSlots, 300, 130, []bool{true}},
	"encrypted":       {encryptedConfig, publish, wantExactly, 300, 130, []bool{true}},
	"encrypted slots": {encryptedSlots, publish, wantSlots, 300, 130, nil},
	"parquet":         {parquetConfig, publish, wantExactly, 300, 130, nil},
	// Pages take longer to check.
	"archive": {archiveConfig, publishPages, wantPages, 120, 50, []bool{false}},
}

func plainConfig(c Config) Config { return c }

func objectsOf(key string) func(Config) Config {
	return func(c Config) Config {
		c.Format, c.Key = "objects", key
		return c
	}
}

func encryptedConfig(c Config) Config {
	c.Encrypt = []string{testRecipient}
	return c
}

func parquetConfig(c Config) Config {
	c.Format = "parquet"
	return c
}

func encryptedSlots(c Config) Config {
	return encryptedConfig(objectsOf("{crawl}/{field:slot}.json")(c))
}

var errCut = errors.New("cut here")

// Environment of a child process that runs a writer.
const (
	envChild  = "SEINE_TEST_WRITER_URL"
	envConfig = "SEINE_TEST_WRITER_CONFIG" // as JSON
	envStep   = "SEINE_TEST_WRITER_STEP"   // where it kills itself the third time
	envHeap   = "SEINE_TEST_WRITER_HEAP"   // a file for the peak size of its heap, in bytes
)

func child() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bus, err := stages.Dial(os.Getenv(envChild), "child", quiet())
	if err != nil {
		return fail(err)
	}
	defer bus.Close()
	if err := bus.Join(ctx); err != nil {
		return fail(err)
	}
	var cfg Config
	if err := json.Unmarshal([]byte(os.Getenv(envConfig)), &cfg); err != nil {
		return fail(err)
	}
	w, err := New(cfg, bus)
	if err != nil {
		return fail(err)
	}
	w.hook = killAt(os.Getenv(envStep))
	defer watchHeap(os.Getenv(envHeap))()
	if err := w.Run(ctx); err != nil {
		return fail(err)
	}
	return 0
}

// watchHeap records the peak size of the heap until the returned function is called.
func watchHeap(file string) (stop func()) {
	if file == "" {
		return func() {}
	}
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		s, peak := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}, uint64(0)
		for {
			metrics.Read(s)
			peak = max(peak, s[0].Value.Uint64())
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(done)
		_ = os.WriteFile(file, fmt.Append(nil, <-most), 0o644)
	}
}

func killAt(step string) output.Hook {
	if step == "" {
		return nil
	}
	var passed atomic.Int32
	return func(at string) error {
		if at == step && passed.Add(1) >= 3 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // wait for the signal
		}
		return nil
	}
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func startChild(t *testing.T, url string, cfg Config, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	cfg.ChunkRecords, cfg.ChunkAge = 40, crawlspec.Duration(100*time.Millisecond)
	text, err := json.Marshal(cfg)
	check(t, err)
	c.Env = append(os.Environ(), envChild+"="+url, envConfig+"="+string(text))
	c.Env = append(c.Env, env...)
	c.Stderr = os.Stderr
	check(t, c.Start())
	return c
}
