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

// A Question concerns the port of a task.
type Question struct {
	PID     int    // process whose network namespace is searched; 0: this process's
	Address string // host:port at which the task must answer
	Family  Family
	Own     bool // reports whether the address belongs to the network namespace of PID
	Refused bool // reports whether the connection was refused
}

// Diagnose searches the listening sockets for the reason why the task does not answer at its
// address: the task listens at another address, or a process outside of the allocation
// listens there. It returns the kind "" if it finds no reason.
func Diagnose(q Question) (kind api.TroubleKind, words string) {
	to, err := netip.ParseAddrPort(q.Address)
	if err != nil || !q.Own && !isLocal(to.Addr()) || q.Own && q.PID == 0 {
		return "", "" // the port belongs to another machine or namespace
	}
	all, err := listenersOn(q.PID, to.Port())
	if err != nil {
		return "", ""
	}
	var there []Listener
	for _, l := range all {
		if l.Covers(to.Addr()) != q.Refused { // a listener that covers a refused address cannot be the one
			there = append(there, l)
		}
	}
	if len(there) == 0 {
		return "", ""
	}
	owners := ownersOf(there)
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

// isLocal reports whether the address belongs to this machine.
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
