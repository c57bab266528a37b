// Package command has the commands of stages that can be extended: Fetcher and Parser with extractors, Renderer, and Stage for a
// stage that is not one of Seine's. It is wiring: what a stage does is in its own package.
package command
