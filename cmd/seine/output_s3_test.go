package main

import (
	"testing"

	"seine/internal/testing/s3server"
)

// An output in S3 is exported, read, verified and listed like one in a directory.
func TestOutputInS3(t *testing.T) {
	s3server.SetCredentials()
	server := s3server.Start(t)
	place := server.Out()
	flags := []string{"--s3-endpoint", server.Endpoint(), "--s3-path-style"}
	with := func(args ...string) []string { return append(args, flags...) }
	want(t, exitOK, with("export", committed(t), "--to", place), "exported 4 records")
	want(t, exitOK, with("cat", place), lines)
	want(t, exitOK, with("cat", place+"/c"), lines)
	want(t, exitFailed, with("cat", server.Out()), "no commit log")
	want(t, exitOK, with("cat", place+"/c", "--writer", "export"), lines)
	want(t, exitOK, with("verify", place), "2 files, 4 records")
	want(t, exitUsage, with("verify", place, "--writer", "default"), "has no commits in "+place+"; there is export")
	want(t, exitOK, with("manifest", place, "--write"))
	want(t, exitOK, with("manifest", place), `"writer": "export"`)
	server.Put(place, "c/stray.txt", []byte("stray"))
	want(t, exitFailed, with("verify", place), "surplus    c/stray.txt", "1 wrong")

	back := t.TempDir()
	want(t, exitOK, []string{"export", place, "--to", back, "--from-s3-endpoint", server.Endpoint(), "--from-s3-path-style"}, "exported 4 records")
	want(t, exitOK, []string{"cat", back}, lines)
	want(t, exitUsage, with("export", committed(t), "--to", back), "--s3-")
	want(t, exitOK, with("crawl", "https://example.org/", "--dry-run", "--out", server.Out()), "checking s3://", " with read requests\n", "would write records")
	want(t, exitFailed, with("crawl", "https://example.org/", "--dry-run", "--out", place), `belongs to the writer "export"`)
	want(t, exitFailed, with("crawl", "https://example.org/", "--dry-run", "--out", "s3://no-such-bucket/x"), "no such bucket")
}
