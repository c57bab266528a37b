package procstats

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// A process is bound by the limits of its cgroup and of all parent groups.
func TestLimitFiles(t *testing.T) {
	got := limitFiles("12:cpu:/x\n5:memory:/docker/abc\n0::/system.slice/seine.service\n")
	for _, want := range []string{
		"/sys/fs/cgroup/memory.max", // in a container
		"/sys/fs/cgroup/system.slice/seine.service/memory.max", "/sys/fs/cgroup/system.slice/memory.max",
		"/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %v", want, got)
		}
	}
}

func TestSelf(t *testing.T) {
	dir := t.TempDir()
	s := NewReporter("writer")
	s.Rename("writer archive")
	s.AddDisk("state", dir)
	s.AddDisk("out", filepath.Join(dir, "not", "made", "yet"))
	s.ReadyBy(func() error { return nil })
	p := s.Now()
	s.ReadyBy(func() error { return errors.New("sink: no space left on device") })
	if unready := s.Now().Unready; p.Unready != "" || unready != "sink: no space left on device" {
		t.Errorf("what keeps it from its work is %q, then %q", p.Unready, unready)
	}
	if p.Stage != "writer archive" || p.PID != os.Getpid() || p.Resident < 1<<20 || p.Limit < p.Resident {
		t.Errorf("got %+v", p)
	}
	if len(p.Disks) != 2 || p.Disks[0].Free <= 0 || p.Disks[0].Size < p.Disks[0].Free || p.Disks[0].Device != p.Disks[1].Device {
		t.Errorf("disks are %+v", p.Disks)
	}
}

// At each scrape, the metric agrees with /readyz.
func TestReadyMetricFollowsTheCheck(t *testing.T) {
	s, all := NewReporter("writer"), prometheus.NewRegistry()
	all.MustRegister(s)
	var unready error
	s.ReadyBy(func() error { return unready })
	for _, c := range []struct {
		err  error
		want float64
	}{{nil, 1}, {errors.New("nats: not connected"), 0}, {nil, 1}} {
		unready = c.err
		families, err := all.Gather()
		got := -1.0
		for _, f := range families {
			if f.GetName() == "seine_ready" {
				got = f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		if err != nil || got != c.want {
			t.Errorf("while the check says %v, the metric is %v, %v, want %v", c.err, got, err, c.want)
		}
	}
}
