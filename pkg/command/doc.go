// Package command is the commands of stages that can be extended, for programs
// that are such a stage with something added to it. It is wiring: what a stage
// does is in its own package.
package command
