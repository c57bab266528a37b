package cluster

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// node is a machine of the cluster, in the place of a kubelet: it runs what the pods that the scheduler gives it would, as
// processes.
type node struct {
	c    *cluster
	t    *testing.T
	name string
	beat time.Time // when it last told that it lives

	mu     sync.Mutex
	pods   map[types.UID]*process
	killed []string // pods that did not end within their grace period
}

// startNode has a node run until the test ends.
func (c *cluster) startNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{c: c, t: t, name: name, pods: make(map[types.UID]*process)}
	size := core.ResourceList{
		core.ResourceCPU: resource.MustParse("16"), core.ResourceMemory: resource.MustParse("64Gi"),
		core.ResourceEphemeralStorage: resource.MustParse("100Gi"), core.ResourcePods: resource.MustParse("100"),
	}
	if err := c.call(http.MethodPost, "/api/v1/nodes", &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
		Status:     core.NodeStatus{Capacity: size, Allocatable: size, Conditions: n.conditions()},
	}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.end)
	repeat(t, 200*time.Millisecond, n.sync)
	return n
}

func (n *node) conditions() []core.NodeCondition {
	n.beat = time.Now()
	now := meta.NewTime(n.beat)
	return []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Test", LastHeartbeatTime: now, LastTransitionTime: now}}
}

// sync tells that the node lives, and does for each of its pods what is to be done.
func (n *node) sync() error {
	if time.Since(n.beat) > 5*time.Second {
		if err := n.c.patch("/api/v1/nodes/"+n.name+"/status", map[string]any{"status": map[string]any{"conditions": n.conditions()}}); err != nil {
			return err
		}
	}
	var pods core.PodList
	if err := n.c.get("/api/v1/pods?fieldSelector=spec.nodeName="+n.name, &pods); err != nil {
		return err
	}
	var failed error
	for i := range pods.Items {
		if err := n.syncPod(&pods.Items[i]); err != nil {
			failed = fmt.Errorf("%s: %w", pods.Items[i].Name, err)
		}
	}
	return failed
}

func (n *node) syncPod(pod *core.Pod) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pods[pod.UID]
	switch {
	case pod.DeletionTimestamp != nil:
		return n.remove(pod, p)
	case pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed:
		return nil
	case p == nil:
		p, err := n.newProcess(pod)
		if err != nil {
			return err
		}
		n.pods[pod.UID] = p
		return p.start()
	case p.ended() && pod.Spec.RestartPolicy != core.RestartPolicyNever:
		p.restarts++
		return p.start()
	}
	return n.tell(pod, p)
}

// remove ends the process of a pod that is to go, and then the pod.
func (n *node) remove(pod *core.Pod, p *process) error {
	path := "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name
	if p != nil && !p.ended() {
		if p.stop(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second) {
			n.killed = append(n.killed, pod.Name)
		}
		return nil
	}
	delete(n.pods, pod.UID)
	return n.c.call(http.MethodDelete, path, &meta.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &meta.Preconditions{UID: &pod.UID}}, nil)
}

// tell writes how a pod is, where that has changed.
func (n *node) tell(pod *core.Pod, p *process) error {
	status := p.status()
	if told := fmt.Sprint(status.Phase, status.ContainerStatuses[0].Ready, p.restarts); told != p.told {
		err := n.c.patch("/api/v1/namespaces/"+pod.Namespace+"/pods/"+pod.Name+"/status", map[string]any{"status": status})
		if err != nil {
			return err
		}
		p.told = told
	}
	return nil
}

// kill kills the processes of a component, as a crash would, and returns how many.
func (n *node) kill(component string) (killed int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.pod.Labels["app.kubernetes.io/component"] == component && !p.ended() {
			_ = p.cmd.Process.Kill()
			killed++
		}
	}
	return killed
}

// running are the names of the pods that have a process here.
func (n *node) running() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if !p.ended() {
			names = append(names, p.pod.Name)
		}
	}
	return names
}

// end kills what runs, after the test.
func (n *node) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if !p.ended() {
			_ = p.cmd.Process.Kill()
			<-p.ends
		}
		if n.t.Failed() {
			n.t.Logf("%s:\n%s", p.pod.Name, tail(p.log.String(), 8))
		}
	}
}
