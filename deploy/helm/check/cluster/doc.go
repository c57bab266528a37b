// Package cluster has a real API server of Kubernetes, with etcd, take Seine's chart. scripts/kubernetes builds them;
// SEINE_KUBERNETES is the folder where they are, and without it the tests are skipped (`make kubernetes` runs them).
package cluster
