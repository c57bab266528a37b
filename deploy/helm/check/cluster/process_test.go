package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"seine/internal/testing/await"
	"seine/internal/testing/freeport"
)

// process is the container of a pod, as a process.
type process struct {
	pod      *core.Pod
	files    map[string]string // folders by where the container has them
	ports    map[string]string // addresses by those in the environment
	cmd      *exec.Cmd
	log      await.Log
	ends     chan struct{}
	began    time.Time
	killAt   time.Time // when its grace period ends; zero is that it is not asked to end
	killed   bool
	restarts int32
	told     string // what the API server knows of it
}

// newProcess prepares the container of a pod: the folders of its volumes, and ports of this machine.
func (n *node) newProcess(pod *core.Pod) (*process, error) {
	p := &process{pod: pod, files: make(map[string]string), ports: make(map[string]string)}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		for _, v := range pod.Spec.Volumes {
			if v.Name != m.Name {
				continue
			}
			switch {
			case v.PersistentVolumeClaim != nil:
				p.files[m.MountPath] = n.c.volume(v.PersistentVolumeClaim.ClaimName)
			case v.EmptyDir != nil:
				p.files[m.MountPath] = filepath.Join(n.c.dir, "pods", string(pod.UID), v.Name)
			default:
				return nil, fmt.Errorf("a volume %s of another kind", v.Name)
			}
		}
	}
	for _, address := range []string{":9400", "127.0.0.1:8077", ":8077"} {
		p.ports[address] = freeport.Addr(n.t)
	}
	return p, nil
}

// start runs it: the last element of the image, or the command, of Seine's own.
func (p *process) start() error {
	c := p.pod.Spec.Containers[0]
	name, _, _ := strings.Cut(path.Base(c.Image), ":")
	command := append([]string{name}, c.Args...)
	if len(c.Command) > 0 {
		command = append([]string{path.Base(c.Command[0])}, append(c.Command[1:len(c.Command):len(c.Command)], c.Args...)...)
	}
	for _, dir := range p.files {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	p.cmd = exec.Command(filepath.Join(binaries, command[0]), command[1:]...)
	p.cmd.Env = p.environment(c.Env)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.ends, p.began = make(chan struct{}), time.Now()
	if err := p.cmd.Start(); err != nil {
		close(p.ends)
		return err
	}
	go func(cmd *exec.Cmd, ends chan struct{}) { defer close(ends); _ = cmd.Wait() }(p.cmd, p.ends)
	return nil
}

// environment is the container's alone, with folders and ports of this machine.
func (p *process) environment(env []core.EnvVar) []string {
	all := []string{"HOME=/nonexistent", "PATH=/nonexistent"}
	for _, e := range env {
		value := e.Value
		if here, ok := p.ports[value]; ok {
			value = here
		}
		for mounted, dir := range p.files {
			if value == mounted || strings.HasPrefix(value, mounted+"/") {
				value = dir + strings.TrimPrefix(value, mounted)
				break
			}
		}
		all = append(all, e.Name+"="+value)
	}
	return all
}

func (p *process) ended() bool {
	select {
	case <-p.ends:
		return true
	default:
		return false
	}
}

// stop asks it to end, as the kubelet does, and kills it when its grace period is over, which it reports.
func (p *process) stop(grace time.Duration) (killed bool) {
	switch {
	case p.killAt.IsZero():
		p.killAt = time.Now().Add(grace)
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	case time.Now().After(p.killAt) && !p.killed:
		p.killed = true
		_ = p.cmd.Process.Kill()
		return true
	}
	return false
}

// ready asks its probe.
func (p *process) ready() bool {
	probe := p.pod.Spec.Containers[0].ReadinessProbe
	if probe == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(probe.TimeoutSeconds)*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.ports[":9400"]+probe.HTTPGet.Path, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// status is what a kubelet would tell of it.
func (p *process) status() core.PodStatus {
	began := meta.NewTime(p.began)
	c := core.ContainerStatus{Name: p.pod.Spec.Containers[0].Name, Image: p.pod.Spec.Containers[0].Image, RestartCount: p.restarts}
	phase := core.PodRunning
	if p.ended() {
		code := int32(p.cmd.ProcessState.ExitCode())
		c.State.Terminated = &core.ContainerStateTerminated{ExitCode: code, StartedAt: began, FinishedAt: meta.Now()}
		if phase = core.PodSucceeded; code != 0 {
			phase = core.PodFailed
		}
	} else {
		started := true
		c.Ready, c.Started, c.State.Running = p.ready(), &started, &core.ContainerStateRunning{StartedAt: began}
	}
	ip := podIP(p.pod)
	s := core.PodStatus{Phase: phase, StartTime: &began, PodIP: ip, PodIPs: []core.PodIP{{IP: ip}}, ContainerStatuses: []core.ContainerStatus{c}}
	for _, kind := range []core.PodConditionType{core.PodScheduled, core.PodInitialized, core.ContainersReady, core.PodReady} {
		condition := core.PodCondition{Type: kind, Status: core.ConditionTrue, LastTransitionTime: meta.Now()}
		if !c.Ready && (kind == core.ContainersReady || kind == core.PodReady) {
			condition.Status = core.ConditionFalse
		}
		s.Conditions = append(s.Conditions, condition)
	}
	return s
}

// podIP is an address of a pod's own that nobody asks: its process listens on loopback, which endpoints may not name.
func podIP(pod *core.Pod) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(pod.UID))
	n := sum.Sum32()
	return net.IPv4(10, 244, byte(n>>8), byte(n)).String()
}
