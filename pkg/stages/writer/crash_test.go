package writer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

var steps = []string{
	stepWrite, stepAppended, stepSynced, stepRenamed, stepFinished,
	stepEntrySynced, stepEntryRenamed, stepCommitted, stepAcked, stepIndexed,
}

// A copy of the output directory, taken between two steps of a commit, is what
// a kill there leaves. A writer that goes on from it must end with every record
// once, with and without the index that the killed one had.
func TestCrashBetweenSteps(t *testing.T) {
	for _, step := range steps {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/index=%v", step, keep), func(t *testing.T) {
				t.Parallel()
				crashAt(t, step, keep)
			})
		}
	}
}

func crashAt(t *testing.T, step string, keepIndex bool) {
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 300)
	publish(t, bus, "b", 0, 130)
	cfg := testConfig(t)
	killed := filepath.Join(t.TempDir(), "killed")
	var once sync.Once
	reached := make(chan struct{})
	var mu sync.Mutex // the other partitions stand still while the copy is made
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
				if err := os.CopyFS(killed, os.DirFS(cfg.Out)); err != nil {
					t.Error(err)
				}
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
	wantExactly(t, cfg, map[string]int{"a": 300, "b": 130})
	wantTidy(t, cfg)
}

var errCut = errors.New("cut here")

// Environment of the child process of TestKill.
const (
	envChild = "SEINE_TEST_WRITER_URL"
	envOut   = "SEINE_TEST_WRITER_OUT"
	envState = "SEINE_TEST_WRITER_STATE"
	envAge   = "SEINE_TEST_WRITER_AGE"
)

func child() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	nc, err := nats.Connect(os.Getenv(envChild))
	if err != nil {
		return fail(err)
	}
	defer nc.Close()
	bus, err := busOn(nc)
	if err != nil {
		return fail(err)
	}
	if err := bus.Join(ctx); err != nil {
		return fail(err)
	}
	cfg := DefaultConfig()
	cfg.Out, cfg.State, cfg.ChunkRecords = os.Getenv(envOut), os.Getenv(envState), 40
	_ = cfg.ChunkAge.UnmarshalText([]byte(os.Getenv(envAge)))
	w, err := New(cfg, bus)
	if err != nil {
		return fail(err)
	}
	if err := w.Run(ctx); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A process is killed at random moments while records come in.
func TestKill(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	bus := startBus(t, true)
	cfg := testConfig(t)
	n := 0
	for range rounds {
		c := startChild(t, bus.NC.ConnectedUrl(), cfg)
		to := n + 150
		publish(t, bus, "a", n, to)
		publish(t, bus, "b", n, to)
		n = to
		<-time.After(time.Duration(20+rand.IntN(180)) * time.Millisecond) // the moment is the test
		_ = c.Process.Signal(syscall.SIGKILL)
		_ = c.Wait()
	}
	before, err := ReadCommits(cfg.Out, cfg.Name)
	check(t, err)
	if len(before) < rounds/2 {
		t.Logf("only %d commits before the end", len(before))
	}
	last := start(t, bus, cfg)
	last.catchUp()
	last.end()
	t.Logf("%d commits by %d killed processes, %+v after", len(before), rounds, last.Totals())
	wantExactly(t, cfg, map[string]int{"a": n, "b": n})
	wantTidy(t, cfg)
}

func startChild(t *testing.T, url string, cfg Config) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), envChild+"="+url, envOut+"="+cfg.Out, envState+"="+cfg.State, envAge+"="+messages.Duration(100*time.Millisecond).String())
	c.Stderr = os.Stderr
	check(t, c.Start())
	return c
}
