//go:build linux

package main

import "seine/pkg/messages"

// machine is what runs on a host.
type machine struct {
	name    string
	brokers int
	stages  []string
}

// layout is which machines there are, and where what they talk to is.
type layout struct {
	machines []machine
	web, s3  string // hosts of the web and of the S3 server; one of the machines, or a host of its own
	replicas int
}

// Hosts of what is not Seine.
const (
	webHost  = "web"
	s3Host   = "s3"
	oneHost  = "one"
	observer = "observer" // this program, which crawls, asks and reads the output
)

// spread has a broker on each of three machines, beside stages as a user would place them, and a fourth without.
func spread() layout {
	return layout{
		machines: []machine{
			{"a", 1, []string{messages.StageFrontier, messages.StageFetcher, messages.StageWriter}},
			{"b", 1, []string{messages.StageFrontier, messages.StageFetcher, messages.StageParser}},
			{"c", 1, []string{messages.StageFetcher, messages.StageWriter}},
			{"d", 0, []string{messages.StageFetcher, messages.StageParser}},
		},
		web: webHost, s3: s3Host, replicas: 3,
	}
}

// together has the same stages on one host, with so many brokers.
func together(brokers int) layout {
	all := machine{name: oneHost, brokers: brokers}
	for _, m := range spread().machines {
		all.stages = append(all.stages, m.stages...)
	}
	return layout{machines: []machine{all}, web: oneHost, s3: oneHost, replicas: brokers}
}

// withBroker are the names of the machines that have a broker, or of those that have none.
func (l layout) withBroker(has bool) (names []string) {
	for _, m := range l.machines {
		if m.brokers > 0 == has {
			names = append(names, m.name)
		}
	}
	return names
}
