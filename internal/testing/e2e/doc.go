// Package e2e tests the commands as users run them: real processes over a real
// nats-server, crawling sites on loopback, killed without mercy. What the site
// saw and what the output holds is the evidence.
package e2e
