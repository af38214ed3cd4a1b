// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
)

// A killed is the panic that stands for the end of an agent.
type killed struct{}

// remains lists what the machine has of networks: namespaces, links, neighbours, and entries of the
// rules, apart from the bridge itself.
func (m *machine) remains(f *Fabric) (list []string) {
	m.t.Helper()
	entries, _ := os.ReadDir(m.config.Dir)
	for _, e := range entries {
		list = append(list, "directory "+e.Name())
	}
	f.hostMu.Lock()
	defer f.hostMu.Unlock()
	if err := f.open(); err != nil {
		m.t.Fatal(err)
	}
	links, err := f.w.h.LinkList()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Name, "rv") {
			list = append(list, "link "+l.Attrs().Name)
		}
		if l.Attrs().Name == DefaultBridge {
			neighbours, _ := f.w.h.NeighList(l.Attrs().Index, 0)
			for _, n := range neighbours {
				if n.State&netlink.NUD_PERMANENT != 0 && !n.IP.IsMulticast() {
					list = append(list, "neighbour "+n.IP.String())
				}
			}
		}
	}
	elements, _ := f.t.list()
	for e := range elements {
		if !strings.HasPrefix(e.set, setGateways) {
			list = append(list, fmt.Sprintf("%s %x", e.set, e.key))
		}
	}
	slices.Sort(list)
	return list
}

// dieAt runs do, and ends it at the nth step. It returns the step's name, or "" if do has ended.
func (m *machine) dieAt(n int, do func(*Fabric)) (step string) {
	m.t.Helper()
	f := m.fabric()
	count := 0
	f.c.Step = func(name string) {
		if count++; count == n {
			step = name
			panic(killed{})
		}
	}
	func() {
		defer func() {
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
		}()
		do(f)
	}()
	return step
}

func none(string) bool  { return false }
func every(string) bool { return true }

func TestKilledAgentLeavesNothing(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("ledger lost %v", lost), func(t *testing.T) { killAtEachStep(t, lost) })
	}
}

// killAtEachStep kills the agent during a start and a stop. lost reports whether its ledger is
// lost with it.
func killAtEachStep(t *testing.T, lost bool) {
	m := newMachine(t)
	steps := map[string]bool{}
	for n := 1; ; n++ {
		step := m.dieAt(n, func(f *Fabric) {
			if _, _, err := f.Up(t.Context(), request(n, 20001)); err != nil {
				t.Error(err)
			}
			if err := f.Release(allocID(n))(); err != nil {
				t.Error(err)
			}
		})
		if lost {
			clear(m.ledger.keys)
		}
		next := m.fabric()
		if err := next.Reconcile(none); err != nil {
			t.Errorf("after a kill before %q: %v", step, err)
		}
		if left := m.remains(next); len(left) > 0 {
			t.Errorf("after a kill before %q, the next agent leaves %q", step, left)
		}
		if len(m.ledger.keys) > 0 {
			t.Errorf("after a kill before %q, the ledger has %v", step, m.ledger.keys)
		}
		if step == "" {
			break
		}
		steps[step] = true
	}
	if len(steps) < 8 {
		t.Errorf("only the steps %v were tried", steps)
	}
}

func TestNextAgentContinuesAnInterruptedStart(t *testing.T) {
	m := newMachine(t)
	for n := 1; ; n++ {
		port := uint16(20000 + n)
		step := m.dieAt(n, func(f *Fabric) {
			if _, _, err := f.Up(t.Context(), request(n, port)); err != nil {
				t.Error(err)
			}
		})
		next := m.fabric()
		if err := next.Reconcile(every); err != nil {
			t.Errorf("after a kill before %q: %v", step, err)
		}
		m.up(next, n, port)
		at := fmt.Sprintf("198.51.100.2:%d", port)
		if got, err := ask(m.outside(), "tcp", at); got != fmt.Sprintf("%d from 198.51.100.1", n) {
			t.Errorf("after a kill before %q: %q, %v", step, got, err)
		}
		if step == "" {
			return
		}
	}
}

func TestReconcileRestoresWhatOthersRemoved(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	r := m.up(f, 1, 20001)
	works := func(after string) {
		t.Helper()
		if err := f.Reconcile(every); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
		for _, from := range []string{m.outside(), m.path, f.namespace(r.Alloc)} {
			if got, err := ask(from, "tcp", "198.51.100.2:20001"); !strings.HasPrefix(got, "1 from") {
				t.Errorf("after %s, from %s: %q, %v", after, from, got, err)
			}
		}
	}
	broken := func(after string) {
		t.Helper()
		if list, err := f.t.list(); err == nil && len(list) > 0 && f.t.isWhole() {
			if _, err := f.w.h.LinkByName(linkName("node-1", r.Alloc)); err == nil && f.hasPort(r) {
				t.Errorf("after %s: the network is whole, so this tests nothing", after)
			}
		}
	}
	link := func(name string) netlink.Link {
		l, err := f.w.h.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	works("the start")
	f.t.c.FlushRuleset()
	if err := f.t.c.Flush(); err != nil {
		t.Fatal(err)
	}
	broken("a flush of all rules")
	works("a flush of all rules")
	if err := f.w.h.LinkDel(link(linkName("node-1", r.Alloc))); err != nil {
		t.Fatal(err)
	}
	broken("the removal of the link")
	works("the removal of the link")
	if err := f.w.h.LinkDel(link(DefaultBridge)); err != nil {
		t.Fatal(err)
	}
	broken("the removal of the bridge")
	works("the removal of the bridge")
	if err := f.t.remove(r.elements("node-1")[:1]); err != nil {
		t.Fatal(err)
	}
	works("the removal of an entry")
	if err := f.t.add([]element{{setPorts + "4", join([]byte{6}, number(9)), join([]byte{10, 0, 0, 1}, number(9))}}); err != nil {
		t.Fatal(err)
	}
	works("the addition of an entry")
	if list, err := f.t.list(); err != nil || len(list) != len(r.elements("node-1"))+2 {
		t.Errorf("%d entries, %v; want those of the record and of the gateways", len(list), err)
	}
}

func TestManyStartsAndStopsLeakNothing(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	for n := range 100 {
		if _, _, err := f.Up(t.Context(), request(n, 20001)); err != nil {
			t.Fatal(err)
		}
		if err := f.Release(allocID(n))(); err != nil {
			t.Fatal(err)
		}
	}
	if left := m.remains(f); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), m.config.Dir) {
		t.Errorf("a namespace is still mounted below %s (%v)", m.config.Dir, err)
	}
}

func TestSuccessorWaitsForThePort(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	m.up(f, 1, 20001)
	if _, _, err := f.Up(t.Context(), request(2, 20001)); err == nil || !strings.Contains(err.Error(), "port 20001 of the node belongs to allocation 00000001") {
		t.Errorf("a port of another allocation: %v", err)
	}
	complete := f.Release(allocID(1))
	done := make(chan error, 1)
	go func() {
		_, _, err := f.Up(t.Context(), request(2, 20001))
		done <- err
	}()
	if err := complete(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the successor: %v", err)
	}
}

func TestPortOfAProgramIsNotTaken(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	m.serve(m.path, ":20001", "program")
	if _, _, err := f.Up(t.Context(), request(1, 20001)); err == nil || !strings.Contains(err.Error(), "port 20001 of the node is not free") {
		t.Errorf("a port of a program: %v", err)
	}
	if got, err := ask(m.path, "tcp", "127.0.0.1:20001"); !strings.HasPrefix(got, "program") {
		t.Errorf("the program: %q, %v", got, err)
	}
	if err := f.Release(allocID(1))(); err != nil {
		t.Error(err)
	}
}

func TestSubnetOfTheMachineIsRejected(t *testing.T) {
	m := newMachine(t)
	m.config.Subnet = mustSubnet("198.51.0.0/16")
	f := m.fabric()
	_, _, err := f.Up(t.Context(), request(1, 20001))
	if want := "overlaps the machine's route to 198.51.100.0/24 on uplink: set bridge_network_subnet"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if err := Support(m.config); err == nil || !strings.Contains(err.Error(), "uplink") {
		t.Errorf("the node's description: %v", err)
	}
	m.config.Subnet = mustSubnet(DefaultSubnet)
	if err := Support(m.config); err != nil {
		t.Errorf("a free subnet: %v", err)
	}
}

func TestBridgeOfAnotherAgentIsRejected(t *testing.T) {
	m := newMachine(t)
	m.up(m.fabric(), 1, 20001)
	m.config.Node, m.config.Dir, m.ledger = "node-2", m.config.Dir+"-2", &memory{keys: map[string][]byte{}}
	m.config.Ledger = m.ledger
	if _, _, err := m.fabric().Up(t.Context(), request(2, 20002)); err == nil || !strings.Contains(err.Error(), "belongs to another agent") {
		t.Errorf("%v", err)
	}
	m.config.Bridge, m.config.Subnet, m.config.Subnet6 = "reeve1", mustSubnet("172.27.0.0/24"), mustSubnet("fd73::/64")
	m.up(m.fabric(), 3, 20003)
	for port, want := range map[int]string{20001: "1", 20003: "3"} {
		if got, err := ask(m.outside(), "tcp", fmt.Sprintf("198.51.100.2:%d", port)); got != want+" from 198.51.100.1" {
			t.Errorf("port %d: %q, %v", port, got, err)
		}
	}
}

func TestNoneHasLoopbackOnly(t *testing.T) {
	m := newMachine(t)
	f := m.fabric()
	n, s, err := f.Up(t.Context(), Request{Alloc: allocID(1), Mode: ModeNone})
	if err != nil || s.Address != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	m.serve(n.Namespace, "127.0.0.1:80", "in")
	if got, err := ask(n.Namespace, "tcp", "127.0.0.1:80"); !strings.HasPrefix(got, "in") {
		t.Errorf("its loopback: %q, %v", got, err)
	}
	if got, err := ask(n.Namespace, "tcp", outside+":9000"); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("another machine: %q, %v", got, err)
	}
}

// hasPort reports whether the allocation's link is a port of the bridge.
func (f *Fabric) hasPort(r *Record) bool {
	l, err1 := f.w.h.LinkByName(linkName(f.c.Node, r.Alloc))
	b, err2 := f.w.h.LinkByName(f.c.Bridge)
	return err1 == nil && err2 == nil && l.Attrs().MasterIndex == b.Attrs().Index
}
