package doctor

import "fmt"

// limits checks the limit of open files for this user on this machine.
func limits() Finding {
	f := Finding{Level: OK, Check: "limits"}
	files, limited, err := openFiles()
	switch {
	case err != nil:
		f.Level, f.What = Warn, "cannot be read: "+err.Error()
	case !limited:
		f.What = "this system does not limit how many files a process has open"
	default:
		f.What = fmt.Sprintf("a process of this user may have %d files and connections open", files)
		if files < minFiles {
			f.Level, f.Do = Warn, "a frontier, and a fetcher with many hosts, need more: ulimit -n 65536, LimitNOFILE= of systemd"
		}
	}
	return f
}
