// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultZone is the DNS zone of services and stacks if an agent configures no other.
const DefaultZone = "reeve"

// StackHost returns the name under which callers in a namespace reach the stacks of a
// unit that satisfy a feature version, such as 1-2.inventory.sandbox.dev.stack.reeve for
// a caller in dev/sandbox.
func StackHost(want FeatureVersion, unit, namespace, zone string) string {
	labels := strings.Split(strings.ToLower(namespace), "/")
	slices.Reverse(labels)
	return fmt.Sprintf("%d-%d.%s.%s.stack.%s", want.Major, want.Minor, unit, strings.Join(labels, "."), zone)
}

// Variable returns the name of a variable of tasks that describes the dependency, such as
// REEVE_DEP_MY_DB_HOST for the unit my-db.
func (d *StackDependency) Variable(name string) string {
	return "REEVE_DEP_" + strings.ToUpper(strings.ReplaceAll(d.Unit, "-", "_")) + "_" + name
}

// A FoundDependency holds what the servers know about a dependency of a stack when they
// deploy the stack.
type FoundDependency struct {
	Address string `json:",omitempty"` // host:port of a stack outside of Reeve
	Port    int    `json:",omitempty"` // of all instances; 0: each has its own
	TCP     bool   `json:",omitempty"` // reports whether the port is not for HTTP
}

// FindDependency returns what callers of the job's unit need to know.
func (j *Job) FindDependency() *FoundDependency {
	f := &FoundDependency{}
	group, label, ok := j.StackPort()
	if g := j.Group(group); ok && g != nil {
		f.Port, f.TCP = g.staticPort(label), g.isTCPOnly(label) && !j.exposes()
	}
	return f
}

func (j *Job) exposes() bool { return j.Stack != nil && len(j.Stack.Expose) > 0 }

// staticPort returns the number of a port that all instances have; 0 if each has its own.
func (g *Group) staticPort(label string) int {
	for _, n := range g.Networks {
		if n == nil {
			continue
		}
		for _, p := range n.ReservedPorts {
			if p.Label == label {
				return p.Value
			}
		}
	}
	return 0
}

// isTCPOnly reports whether the services of a port have TCP checks, and no HTTP or gRPC
// checks.
func (g *Group) isTCPOnly(label string) bool {
	services := slices.Clone(g.Services)
	for _, t := range g.Tasks {
		if t != nil {
			services = append(services, t.Services...)
		}
	}
	tcp := false
	for _, s := range services {
		if s == nil {
			continue
		}
		for _, c := range s.Checks {
			if c == nil || c.PortLabel != label && (c.PortLabel != "" || s.PortLabel != label) {
				continue
			}
			switch c.Type {
			case CheckHTTP, CheckGRPC:
				return false
			case CheckTCP:
				tcp = true
			}
		}
	}
	return tcp
}
