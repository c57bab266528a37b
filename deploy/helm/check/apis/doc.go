// Package apis holds the chart to what takes minutes to build: the types of KEDA, and kustomize. `make chart` runs its
// tests, `make test` does not.
package apis
