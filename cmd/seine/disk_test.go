package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A file system error is printed with a remedy.
func TestErrorsOfDisksSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}, ": free some space"},
		{&os.PathError{Op: "mkdir", Path: "a", Err: syscall.EROFS}, ": let this user write there"},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrPermission}, ": let this user write there"},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist}, ""},
		{&net.OpError{Op: "dial", Err: syscall.EACCES}, ""},
	} {
		if got := ofDisk(fmt.Errorf("--out a: %w", c.err)); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
