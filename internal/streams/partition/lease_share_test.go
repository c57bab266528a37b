package partition

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/slow"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// fairLeases returns leases of n partitions that are shared evenly.
func fairLeases(b *stages.Bus, who string, r *register, n int) *Leases {
	l := newLeases(b, who, r, 0)
	l.Fair, l.Partitions = true, n
	return l
}

func counts(r *register, want map[string]int) func() bool {
	return func() bool { return maps.Equal(r.count(), want) }
}

func TestLeasesEvenShares(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	b2, _ := stagestest.Dial(t, br.URL())
	b3, _ := stagestest.Dial(t, br.URL())
	await.Start(t, fairLeases(b, "a", r, 16).Run)
	await.Eventually(t, "a has all", counts(r, map[string]int{"a": 16}))
	await.Start(t, fairLeases(b2, "b", r, 16).Run)
	await.Eventually(t, "each has half", counts(r, map[string]int{"a": 8, "b": 8}))
	_, moves := r.owned()
	if moves != 24 {
		t.Errorf("%d times a partition got an owner: 16 and 8 were needed", moves)
	}
	await.Always(t, aWhile, "nothing moves", func() bool { _, m := r.owned(); return m == moves })
	third := await.Start(t, fairLeases(b3, "c", r, 16).Run)
	await.Eventually(t, "three share", counts(r, map[string]int{"a": 6, "b": 5, "c": 5}))
	if _, m := r.owned(); m != moves+5 {
		t.Errorf("%d moves for the five partitions of the third", m-moves)
	}
	if err := third.End(); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "each has half again", counts(r, map[string]int{"a": 8, "b": 8}))
	if _, m := r.owned(); m != moves+10 {
		t.Errorf("%d moves for five partitions that came and went", m-moves)
	}
}

func TestLeasesOnly(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	await.Start(t, fairLeases(b, "a", r, 8).Run)
	await.Eventually(t, "a has all", counts(r, map[string]int{"a": 8}))
	b2, _ := stagestest.Dial(t, br.URL())
	l := newLeases(b2, "s", r, 0)
	l.Pinned = []int{5, 1}
	static := await.Start(t, l.Run)
	await.Eventually(t, "s has its two", counts(r, map[string]int{"a": 6, "s": 2}))
	if got := l.Owned(); !slices.Equal(got, []int{1, 5}) {
		t.Errorf("s owns %v", got)
	}
	if got := r.left(5); len(got) != 1 || !errors.Is(got[0], ErrRebalanced) {
		t.Errorf("a was told %v", got)
	}
	b3, _ := stagestest.Dial(t, br.URL())
	await.Start(t, fairLeases(b3, "b", r, 8).Run)
	await.Eventually(t, "the rest is shared", counts(r, map[string]int{"a": 3, "b": 3, "s": 2}))
	if err := static.End(); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "all is shared", counts(r, map[string]int{"a": 4, "b": 4}))
}

func TestLeasesOnlyIsChecked(t *testing.T) {
	t.Parallel()
	for want, only := range map[string][]int{
		"partition 8: there are 8, from 0 to 7":  {8},
		"partition -1: there are 8, from 0 to 7": {-1},
		"partition 2 is listed twice":            {2, 2},
	} {
		if err := (&Leases{Partitions: 8, Pinned: only}).Run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", only, err, want)
		}
	}
}

// An owner that returns by itself gives the partition to others at once, and acquires it again only
// after a while.
func TestLeasesGivenBack(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	var mu sync.Mutex
	var times []time.Time
	l := newLeases(b, "a", &register{t: t}, 0)
	l.Pinned = []int{3}
	l.RunPartition = func(context.Context, int, uint64) error {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		return nil
	}
	j := await.Start(t, l.Run)
	await.Eventually(t, "a had it twice", func() bool { mu.Lock(); defer mu.Unlock(); return len(times) >= 2 })
	mu.Lock()
	if d := times[1].Sub(times[0]); d < l.every() {
		t.Errorf("taken again after %s, want no sooner than after %s", d, l.every())
	}
	mu.Unlock()
	b2, _ := stagestest.Dial(t, br.URL())
	r := &register{t: t}
	other := newLeases(b2, "b", r, 0)
	other.Pinned = []int{3}
	await.Start(t, other.Run)
	await.Eventually(t, "b has it", counts(r, map[string]int{"b": 1}))
	await.Always(t, aWhile, "b keeps it", counts(r, map[string]int{"b": 1}))
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
}

func TestLeasesSayWhy(t *testing.T) {
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	l := fairLeases(b, "a", r, 2)
	j := await.Start(t, l.Run)
	await.Eventually(t, "a has both", counts(r, map[string]int{"a": 2}))
	if err := l.kv.Delete(t.Context(), l.key(0)); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "a lost one", func() bool { return len(r.left(0)) == 1 })
	await.Eventually(t, "a has both again", counts(r, map[string]int{"a": 2}))
	b2, _ := stagestest.Dial(t, br.URL())
	await.Start(t, fairLeases(b2, "b", r, 2).Run)
	await.Eventually(t, "each has one", counts(r, map[string]int{"a": 1, "b": 1}))
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	for p, want := range [][]error{{ErrLost, ErrRebalanced}, {context.Canceled}} {
		if got := r.left(p); !slices.Equal(got, want) {
			t.Errorf("the owners of %d were told %v, want %v", p, got, want)
		}
	}
}

// inTime tries an operation with a time limit up to three times, so that other load on the machine
// is not measured.
func inTime(t *testing.T, bound time.Duration, try func() time.Duration) {
	t.Helper()
	for i := range 3 {
		d := try().Round(time.Millisecond)
		t.Logf("took %s, of %s at most", d, bound)
		if d <= bound {
			return
		}
		if i == 2 {
			t.Errorf("never within %s", bound)
		}
	}
}

// With production timings, a released lease is acquired at once, whether its owner has more than
// its share or ends.
func TestLeasesHandover(t *testing.T) {
	t.Parallel()
	br, _ := openLeasesFor(t, messages.LeaseTTL)
	r := &register{t: t}
	const finish = 700 * time.Millisecond // such as an upload
	n := 0
	fair := func() (string, *await.Job) {
		n++
		who := fmt.Sprint("p", n)
		b, _ := stagestest.Dial(t, br.URL())
		l := newLeases(b, who, r, finish)
		l.Fair, l.Partitions, l.ttl = true, 16, messages.LeaseTTL
		return who, await.Start(t, l.Run)
	}
	a, old := fair()
	await.Eventually(t, "one has all", counts(r, map[string]int{a: 16}))
	inTime(t, messages.LeaseTTL/2, func() time.Duration {
		began := time.Now()
		b, j := fair()
		await.Eventually(t, "each has half", counts(r, map[string]int{a: 8, b: 8}))
		shed := time.Since(began)
		began = time.Now()
		old.Stop()
		await.Eventually(t, "the other has all", counts(r, map[string]int{b: 16}))
		a, old = b, j
		return max(shed, time.Since(began))
	})
}

// TestLeasesChild is not a test but a child process of TestLeasesProcesses.
func TestLeasesChild(t *testing.T) {
	url := os.Getenv("SEINE_TEST_LEASES")
	if url == "" {
		t.Skip("run by TestLeasesProcesses")
	}
	b, _ := stagestest.Dial(t, url)
	l := fairLeases(b, "child", nil, 8)
	l.RunPartition = func(ctx context.Context, p int, epoch uint64) error {
		fmt.Printf("enter %d %d\n", p, epoch)
		<-ctx.Done()
		fmt.Printf("leave %d %v\n", p, errors.Is(context.Cause(ctx), ErrLost))
		return nil
	}
	_ = l.Run(t.Context())
}

// child is a process that shares partitions with the test, with its output.
type child struct {
	*exec.Cmd
	mu    sync.Mutex
	lines []string
}

func startChild(t *testing.T, url string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], "-test.run=^TestLeasesChild$")}
	c.Env = append(os.Environ(), "SEINE_TEST_LEASES="+url)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.mu.Lock()
			c.lines = append(c.lines, s.Text())
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = c.Process.Kill(); <-read; _ = c.Wait() })
	return c
}

// said counts the lines with a prefix and a suffix.
func (c *child) said(prefix, suffix string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if strings.HasPrefix(l, prefix) && strings.HasSuffix(l, suffix) {
			n++
		}
	}
	return n
}

// owned returns how many partitions the child has, by its output.
func (c *child) owned() int { return c.said("enter", "") - c.said("leave", "") }

// Real processes: one is killed, one is frozen and resumed.
func TestLeasesProcesses(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, b := openLeases(t)
	r := &register{t: t}
	l := fairLeases(b, "test", r, 8)
	await.Start(t, l.Run)
	await.Eventually(t, "the test has all", counts(r, map[string]int{"test": 8}))
	// The server checks for expired keys at least 250 ms after the last time.
	t.Logf("at best within %s", leaseTTL+l.every()+250*time.Millisecond)
	strike := func(c *child, signal syscall.Signal) time.Duration {
		await.Eventually(t, "the child has half", func() bool {
			return c.owned() == 4 && r.count()["test"] == 4
		})
		began := time.Now()
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		await.Eventually(t, "the test has all", counts(r, map[string]int{"test": 8}))
		return time.Since(began)
	}
	t.Logf("killed, taken over after %s", strike(startChild(t, br.URL()), syscall.SIGKILL))
	c := startChild(t, br.URL())
	t.Logf("frozen, taken over after %s", strike(c, syscall.SIGSTOP))
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await.Eventually(t, "the child knows that it lost all", func() bool { return c.said("leave", "true") >= 4 })
	await.Eventually(t, "the child has half again", func() bool {
		return c.owned() == 4 && r.count()["test"] == 4
	})
}

// The server's refusals are logged once, not at every attempt.
func TestLeasesTrouble(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, _ := openLeases(t)
	b, log := stagestest.Dial(t, br.URL())
	r := &register{t: t}
	await.Start(t, fairLeases(b, "a", r, 2).Run)
	await.Eventually(t, "a has both", counts(r, map[string]int{"a": 2}))
	if err := b.JS.DeleteKeyValue(t.Context(), messages.BucketLeases); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"announce", "renew", "claim"} {
		line := func(level string) func() bool {
			return func() bool {
				n := 0
				for l := range strings.Lines(log.String()) {
					if strings.Contains(l, "level="+level) && strings.Contains(l, "lease operation failed") && strings.Contains(l, "operation="+what) {
						n++
					}
				}
				return level == "WARN" && n == 1 || level == "DEBUG" && n > 0
			}
		}
		await.Eventually(t, what+" is said at debug", line("DEBUG"))
		if !line("WARN")() {
			t.Errorf("%s is not said once as a warning", what)
		}
	}
	await.Eventually(t, "a let go", func() bool { n, _ := r.owned(); return n == 0 })
}

// Processes start, end, are killed and cut off in any order: no two ever own the same partition,
// and every partition soon has an owner again.
func TestLeasesModel(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	br, _ := openLeases(t)
	const partitions = 16
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	r := &register{t: t}
	type process struct {
		name string
		job  *await.Job
		bus  *stages.Bus
		net  *natstest.Proxy
	}
	var live []*process
	made := 0
	join := func() {
		p := &process{name: fmt.Sprintf("%c%d", 'a'+rnd.IntN(26), made), net: natstest.NewProxy(t, br)}
		p.bus, _ = stagestest.Dial(t, p.net.URL())
		made++
		p.job = await.Start(t, fairLeases(p.bus, p.name, r, partitions).Run)
		live = append(live, p)
	}
	even := func() bool {
		n := r.count()
		total := 0
		for _, p := range live {
			k := n[p.name]
			if total += k; k < partitions/len(live) || k > (partitions+len(live)-1)/len(live) {
				return false
			}
		}
		return total == partitions
	}
	join()
	for range 12 {
		began := time.Now()
		what := "join"
		switch n := rnd.IntN(4); {
		case len(live) == 1 || n == 0 && len(live) < 5:
			join()
		case n == 1:
			what = "leave"
			i := rnd.IntN(len(live))
			live[i].job.Stop()
			live = slices.Delete(live, i, i+1)
		case n == 2:
			what = "kill"
			i := rnd.IntN(len(live))
			r.kill(live[i].name)
			live[i].bus.NC.Close()
			live = slices.Delete(live, i, i+1)
		default:
			what = "cut off"
			p := live[rnd.IntN(len(live))]
			p.net.Swallow.Store(true)
			time.Sleep(time.Duration(rnd.Int64N(int64(3 * leaseTTL / 2)))) // length of the simulated network failure
			p.net.Cut()
		}
		await.Eventually(t, "all is shared evenly after "+what, even)
		t.Logf("%s: shared evenly after %s", what, time.Since(began))
	}
	if n, _ := r.owned(); n != partitions {
		t.Errorf("%d partitions have an owner", n)
	}
}
