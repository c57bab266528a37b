// Package nats holds the locked-down configuration of nats-server, for the command
// that sets up an installation.
package nats

import _ "embed"

// Locked is the configuration; what it includes is written by internal/run/roles/setup.
//
//go:embed locked.conf
var Locked string
