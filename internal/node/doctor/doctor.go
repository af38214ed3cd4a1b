// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package doctor judges whether a machine has what drivers and features of a node need, and tells
// what to install or to set. Gather reads the machine; Judge decides from these facts alone. The
// state of drivers and networks is the one that the node's own fingerprint reports, so that both
// never disagree.
package doctor

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A State is the result of a check.
type State string

// States, from good to bad.
const (
	OK      State = "ok"
	Warning State = "warning" // it works, with less protection or comfort
	Missing State = "missing" // the feature does not work
)

// A Check is one line of a report.
type Check struct {
	Feature string // a driver, or another part of the node
	Name    string // of the check
	State   State
	Finding string // the result in words
	Fix     string `json:",omitempty"` // what to install or to set; "" if nothing helps or is needed
}

// A Report holds the checks of one machine, by feature.
type Report struct {
	Node     string // name of the machine
	Checks   []Check
	Missing  int // number of checks in this state
	Warnings int
}

// Facts are what Judge reads.
type Facts struct {
	Node      *api.Node // the machine as its agent describes it; nil if that failed
	NodeError string    // why Node is nil
	Root      bool      // reports whether the process runs as root
	System    System
	Wanted    Wanted
	Specs     []SpecProblem
}

// A SpecProblem is a CDI specification of devices that a node does not use.
type SpecProblem struct{ File, Problem string }

// Wanted names what the agent's configuration expects of the machine.
type Wanted struct {
	HostVolumes  []string
	HostNetworks []string
	DockerSocket string
	DockerDaemon bool // a Docker daemon runs tasks
}

// System holds what the fingerprint of a node leaves out.
type System struct {
	Kernel           [2]int // major and minor version
	DataDir          string
	DataExists       bool
	DataInMemory     bool // on a file system that a restart of the machine empties
	DiskFree         uint64
	DiskTotal        uint64
	OpenFiles        uint64 // highest limit that the process may set
	InotifyInstances int    // per user; -1: unknown
	InotifyWatches   int
	ClockKnown       bool
	ClockSynced      bool
	Landlock         int // version of the interface; 0: none
	Seccomp          bool
	UserNamespaces   int // limit of their number; -1: unknown
	Overlay          bool
	NoSwap           bool // memory file systems can be kept out of swap space
	Swap             bool
	Runc             bool // the program was found
	Git              bool
	DockerAnswers    bool
}

// Judge returns the checks of all features, or of those that are named. It returns false with
// the names of all features if one is unknown.
func Judge(f *Facts, features []string) (r *Report, known []string, ok bool) {
	r = &Report{}
	if f.Node != nil {
		r.Node = f.Node.Name
	}
	for _, part := range [][]Check{f.machine(), f.drivers(), f.docker(), f.network(), f.artifacts(), f.landlock(), f.secrets(), f.configured()} {
		r.Checks = append(r.Checks, part...)
	}
	for _, c := range r.Checks {
		if !slices.Contains(known, c.Feature) {
			known = append(known, c.Feature)
		}
	}
	for _, name := range features {
		if !slices.Contains(known, name) {
			return nil, known, false
		}
	}
	if len(features) > 0 {
		r.Checks = slices.DeleteFunc(r.Checks, func(c Check) bool { return !slices.Contains(features, c.Feature) })
	}
	for _, c := range r.Checks {
		switch c.State {
		case Missing:
			r.Missing++
		case Warning:
			r.Warnings++
		}
	}
	return r, known, true
}

// check builds a line: good or, if ok is false, bad with its fix.
func check(feature, name string, ok bool, good string, bad State, finding, fix string) Check {
	if ok {
		return Check{Feature: feature, Name: name, State: OK, Finding: good}
	}
	return Check{Feature: feature, Name: name, State: bad, Finding: finding, Fix: fix}
}
