// Package command has the commands of extensible stages: Fetcher and Parser with extractors,
// Renderer, and Stage for a custom stage. It only connects other packages: each stage is
// implemented in its own package.
package command
