// Package frontier decides which URLs are fetched, and when.
package frontier
