//go:build !unix

package httpclient

func openFiles() (int64, bool) { return 0, false }
