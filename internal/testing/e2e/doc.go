// Package e2e tests the commands as users run them: as real processes with a real nats-server that
// crawl sites on loopback and are killed at any time. The tests check the requests that the site
// saw and the output.
package e2e
