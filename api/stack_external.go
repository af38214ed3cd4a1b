// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"net/netip"
)

// RegisterStackRequest registers a stack that runs outside of Reeve, at one address.
type RegisterStackRequest struct {
	Unit    string
	Address string // host:port, with an IP address as its host
	// Stack holds the version, and optionally settings of a stack block. Without Expose, the
	// stack receives the traffic of the hosts that the newest stack of its unit exposes.
	Stack *StackSpec
	// Redeploy registers a version that a live stack already has at another address.
	Redeploy bool
	By       string
}

// RegisterStackResponse answers the registration of a stack.
type RegisterStackResponse struct {
	Stack    *StackStatus
	Existing bool // reports whether a live stack had the version, address and settings already
	Index    uint64
}

// IsExternal reports whether the stack runs outside of Reeve, and so has no job.
func (s *Stack) IsExternal() bool { return s.Shape == ShapeExternal }

// StackRoute returns the route of an exposed host to a port. All stacks of the unit share it.
func StackRoute(e *StackExposure, port string) *Route {
	return &Route{Protocol: RouteHTTP, Host: e.Host, Path: "/", Port: port, Shared: true}
}

// ExternalJob returns a job that holds the routes of a stack outside of Reeve, where rules about
// routes of jobs apply to the stack. No node runs it.
func (s *Stack) ExternalJob() *Job {
	g := &Group{Name: ShapeExternal}
	if s.Spec != nil {
		for _, e := range s.Spec.Expose {
			g.Routes = append(g.Routes, StackRoute(e, defaultPort))
		}
	}
	return &Job{Namespace: s.Namespace, ID: s.Name, Type: JobTypeService, Groups: []*Group{g}}
}

// Validate reports everything that is wrong with the registration, as one *Error of
// CodeInvalid; nil if it is valid.
func (r *RegisterStackRequest) Validate(allowLoopback bool) error {
	var c complaints
	if err := ValidateUnitName(r.Unit); err != nil {
		c.add("%v", err)
	}
	if _, err := ParseStackAddress(r.Address, allowLoopback); err != nil {
		c.add("%v", err)
	}
	if r.Stack == nil {
		c.add("Stack is missing: it holds the version, as in {\"Stack\": {\"Version\": \"1.2.0\"}}")
		return c.err("the registration is refused")
	}
	shape := &Group{Name: ShapeExternal, Networks: []*Network{{DynamicPorts: []Port{{Label: defaultPort}}}}}
	check := stackCheck{job: &Job{ID: r.Unit, Type: JobTypeService, Groups: []*Group{shape}, Stack: r.Stack}, spec: r.Stack, shape: ShapeService}
	check.block()
	if r.Stack.Warm != nil {
		c.add("warm: Reeve warms only instances that its nodes run; remove Warm")
	}
	for _, p := range check.problems {
		c.add("%s", p.Text)
	}
	if r.Stack.Warm != nil {
		c.add("warm: no node runs a stack outside of Reeve, so none can warm it up; remove the block")
	}
	return c.err("the registration is refused")
}

// ParseStackAddress returns the canonical form of the address of a stack outside of Reeve.
// Routers connect to the address from their own machines, so it must be one that leads every
// router to the same place. Loopback addresses are for development, with one machine.
func ParseStackAddress(text string, allowLoopback bool) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("address %q: %s", Printable(text, 64), fmt.Sprintf(format, args...))
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		return refuse("must be an IP address and a port, such as 10.0.0.7:5432 or [2001:db8::7]:5432; routers do not resolve names")
	}
	ip := at.Addr().Unmap()
	switch {
	case at.Port() == 0:
		return refuse("port 0 is not a port: use 1 to 65535")
	case ip.IsLinkLocalUnicast() || ip.Zone() != "":
		return refuse("is link-local: it leads each router into its own network, where services such as the metadata of cloud machines listen; use an address that all routers reach")
	case ip.IsLoopback() && allowLoopback:
	case ip.IsLoopback():
		return refuse("is loopback: it leads each router to its own machine, where agents listen; use an address that all routers reach")
	case ip.IsUnspecified(), ip.Is4() && ip.As4()[0] == 0, ip.IsMulticast(), ip.Is4() && ip.As4()[0] >= 240:
		return refuse("is not the address of one machine; use an address that all routers reach")
	}
	return netip.AddrPortFrom(ip, at.Port()).String(), nil
}
