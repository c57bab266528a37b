package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// target says what there is to fetch: URL i for each i. All names of hosts are of this machine.
type target struct {
	port  string
	hosts int      // "h…" under localhost; 0 is the address alone
	paths []string // of files, none is the root
}

// args tell a process of commandGet of the target.
func (t *target) args(dir string) []string {
	return []string{"-port", t.port, "-hosts", strconv.Itoa(t.hosts), "-dir", dir}
}

// url returns URL i. Hosts and files take turns, and no URL comes twice.
func (t *target) url(i int) string {
	host, path := "127.0.0.1", "/"
	if t.hosts > 0 {
		host = "h" + strconv.Itoa(i%t.hosts) + ".localhost"
	}
	if len(t.paths) > 0 {
		path = t.paths[i%len(t.paths)]
	}
	return "http://" + net.JoinHostPort(host, t.port) + path + "?n=" + strconv.Itoa(i)
}

// index is the inverse of url.
func (t *target) index(url string) (int, error) {
	i, err := strconv.Atoi(url[strings.LastIndexByte(url, '=')+1:])
	if err != nil || i < 0 || t.url(i) != url {
		return 0, fmt.Errorf("%s was not asked for", url)
	}
	return i, nil
}

// htmlFiles returns the paths of the HTML files of a folder.
func htmlFiles(dir string) (paths []string, err error) {
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ".html") && plainPath(name) {
				paths = append(paths, "/"+name)
			}
			return err
		})
	}
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no HTML files", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	return paths, nil
}

// plainPath reports whether a URL can have the name as it is, and net/http's file server does not redirect it.
func plainPath(name string) bool {
	if name == "index.html" || strings.HasSuffix(name, "/index.html") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == ""
}
