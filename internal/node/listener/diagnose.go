// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package listener

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Question is about the port of a task.
type Question struct {
	PID     int    // of the task: its network is looked at; 0: this process's
	Address string // host:port that the task is to answer at
	Family  Family
	Refused bool // nobody answered at the address
}

// Diagnose says why the task does not answer at its address, as far as the
// listening sockets tell: it listens at another address, or a process that is not
// the allocation's listens there. Kind is "" if they tell nothing.
func Diagnose(q Question) (kind api.TroubleKind, words string) {
	to, err := netip.ParseAddrPort(q.Address)
	if err != nil || !isLocal(to.Addr()) {
		return "", "" // somewhere else the same port is another one
	}
	all, err := On(q.PID, to.Port())
	if err != nil {
		return "", ""
	}
	var there []Listener
	for _, l := range all {
		if l.Covers(to.Addr()) != q.Refused { // whoever does not answer cannot be there
			there = append(there, l)
		}
	}
	if len(there) == 0 {
		return "", ""
	}
	owners := Owners(there)
	foreign := slices.DeleteFunc(slices.Clone(owners), func(o Owner) bool { return q.Family.Has(o.PID) })
	switch {
	case len(owners) == 0:
		if !q.Refused {
			return "", ""
		}
	case len(foreign) == len(owners):
		return api.TroublePortTaken, fmt.Sprintf("port %d is taken: %s listens at %s and is not the task's",
			to.Port(), foreign[0], addresses(there))
	case !q.Refused:
		return "", ""
	}
	return api.TroubleWrongAddress, fmt.Sprintf("the port's listener is at %s, not at %s: have it listen at %s or at all addresses",
		addresses(there), to.Addr(), to.Addr())
}

func addresses(list []Listener) string {
	var all []string
	for _, l := range list {
		at := net.JoinHostPort(l.Addr.Addr().String(), strconv.Itoa(int(l.Addr.Port())))
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

// isLocal reports whether the address is one of this machine's.
func isLocal(a netip.Addr) bool {
	if a.Unmap().IsLoopback() {
		return true
	}
	local, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(local, func(l net.Addr) bool {
		p, err := netip.ParsePrefix(l.String())
		return err == nil && p.Addr().Unmap() == a.Unmap()
	})
}
