// Package check renders Seine's Helm chart as Helm does, and holds it to what it promises: objects that the API server
// takes, references that lead somewhere, options that the commands know, policies that let through what they should.
// It is a module of its own, so that Helm and Kubernetes are no dependencies of Seine.
//
// The official NATS chart is not brought: a chart without objects stands in for it. SEINE_NATS_CHART names the folder or
// archive of the official one, with which TestOfficialNATSChart then renders.
package check

//go:generate go run ./generate
