//go:build !unix

package fetcher

func openFiles() (int64, bool) { return 0, false }
