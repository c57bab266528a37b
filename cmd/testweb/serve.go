package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"seine/internal/testing/samplesites"
	"seine/internal/testing/testweb"
)

// namesShown limits the start URLs printed for a web of many hosts.
const namesShown = 10

// site is the web that is served.
type site struct {
	handler http.Handler
	log     *testweb.Log
	names   []string // the first few host names; "" is the address itself
	paths   []string // start paths on each host; none means the home page
}

// choose returns the handler that the flags select, which records its requests.
func choose(f flags) (site, error) {
	switch {
	case f.Shape != "":
		shape, err := samplesites.New(f.Shape, f.Seed)
		if err != nil {
			return site{}, err
		}
		s := recorded(shape)
		s.paths = shape.Seeds
		return s, nil
	case f.Demo:
		return recorded(testweb.Demo()), nil
	case f.Dir != "":
		return recorded(http.FileServerFS(os.DirFS(f.Dir))), nil
	}
	web := testweb.New(f.config())
	s := site{handler: web, log: web.Log()}
	for host := range min(web.Hosts(), namesShown) {
		s.names = append(s.names, web.Name(host))
	}
	return s, nil
}

// starts returns the start URLs at the listening address.
func (s site) starts(addr string) (urls []string) {
	for _, name := range s.names {
		home := startURL(addr, name)
		if len(s.paths) == 0 {
			urls = append(urls, home)
		}
		for _, path := range s.paths {
			urls = append(urls, strings.TrimSuffix(home, "/")+path)
		}
	}
	return urls
}

func recorded(h http.Handler) site {
	log := testweb.NewLog(0)
	return site{handler: log.Handler(h, nil), log: log, names: []string{""}}
}

// startURL returns the URL of a host's home page at the listening address.
func startURL(addr, name string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr + "/"
	}
	if name != "" {
		host = name
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// writeLog writes the requests so far to a file, if name is not empty.
func writeLog(name string, log *testweb.Log) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write request log: %w", err)
	}
	if err := encode(file, log.Requests()); err != nil {
		_ = file.Close()
		return fmt.Errorf("write request log %q: %w", name, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("close request log %q: %w", name, err)
	}
	return nil
}

func encode(w io.Writer, requests []testweb.Request) error {
	lines := json.NewEncoder(w)
	for _, r := range requests {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
