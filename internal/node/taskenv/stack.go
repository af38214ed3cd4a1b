// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import (
	"cmp"
	"net"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Traffic holds how the tasks of a node find stacks.
type Traffic struct {
	Router string // host:port of the node's router, as tasks reach it; "": it has none
	Zone   string // of names in DNS; default: api.DefaultZone
}

// addStack sets the variables of a task of a stack. They exist only with Reeve's prefix.
func (e *Env) addStack(in Input) {
	j := in.Alloc.Job
	if j == nil || j.Stack == nil {
		return
	}
	name := cmp.Or(j.ParentID, j.ID)
	if unit, version, _, ok := api.ParseStackName(name); ok {
		e.vars[prefix+"STACK"], e.vars[prefix+"UNIT"], e.vars[prefix+"VERSION"] = name, unit, version.String()
	}
	if in.Traffic.Router != "" {
		e.vars[prefix+"ROUTER_ADDR"] = in.Traffic.Router
	}
	for _, d := range j.Stack.Depends {
		if d != nil && d.IsNamed() && api.ValidateUnitName(d.Unit) == nil {
			e.addDependency(d, in)
		}
	}
}

// addDependency sets where the task reaches a dependency. The name and the router's port
// stay the same while traffic shifts between the stacks of the unit.
func (e *Env) addDependency(d *api.StackDependency, in Input) {
	found := d.Found
	if found == nil {
		found = &api.FoundDependency{}
	}
	host, port := api.StackHost(d.Wants(), d.Unit, in.Alloc.Namespace, cmp.Or(in.Traffic.Zone, api.DefaultZone)), ""
	_, routerPort, _ := net.SplitHostPort(in.Traffic.Router)
	outsideHost, outsidePort, err := net.SplitHostPort(found.Address)
	switch {
	case err == nil:
		host, port = outsideHost, outsidePort
	case !found.TCP && routerPort != "":
		port = routerPort
	case found.Port > 0:
		port = strconv.Itoa(found.Port)
	}
	e.vars[d.Variable("HOST")], e.vars[d.Variable("VERSION")] = host, d.Wants().String()
	if port == "" {
		return
	}
	e.vars[d.Variable("PORT")] = port
	if !found.TCP {
		e.vars[d.Variable("URL")] = "http://" + net.JoinHostPort(host, port)
	}
}
