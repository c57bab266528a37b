// Package cluster has a real Kubernetes take Seine's chart: etcd, the API server and, as far as a test wants them, the
// controllers, the scheduler and KEDA, each a process on loopback. scripts/kubernetes builds them; SEINE_KUBERNETES is the
// folder where they are, and without it the tests are skipped (`make kubernetes` runs them).
//
// Nodes are the test's own: what a pod would run, they run as a process, with the environment, the probes, the volumes and
// the grace period that the API server has of the pod. There is no container, no network of pods and no policy of it.
package cluster
