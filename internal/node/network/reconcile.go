// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"os"

	"github.com/vishvananda/netlink"
)

// Reconcile compares the kernel with the records. It removes the networks of allocations that are
// not live and everything without a record, and restores missing parts of the others.
func (f *Fabric) Reconcile(live func(alloc string) bool) error {
	var errs []error
	for _, n := range f.all() {
		if live(n.rec.Alloc) && !f.isClosing(n) {
			continue
		}
		if n.rec.isPlugged() {
			f.removeLater(n)
		} else {
			errs = append(errs, f.Release(n.rec.Alloc)())
		}
	}
	errs = append(errs, f.sweepDirs())
	f.hostMu.Lock()
	err := f.reconcileHost()
	f.hostMu.Unlock()
	errs = append(errs, err)
	for _, n := range f.all() {
		errs = append(errs, f.repair(n))
	}
	return errors.Join(errs...)
}

func (f *Fabric) all() (list []*network) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nets {
		list = append(list, n)
	}
	return list
}

func (f *Fabric) isClosing(n *network) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return n.closing
}

func (f *Fabric) isUnruled(n *network) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return n.unruled
}

func (f *Fabric) has(alloc string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nets[alloc] != nil
}

// sweepDirs removes namespaces and files without a record.
func (f *Fabric) sweepDirs() error {
	entries, err := os.ReadDir(f.c.Dir)
	if err != nil {
		return nil // none was ever made
	}
	var errs []error
	for _, e := range entries {
		if !f.has(e.Name()) {
			f.c.Logger.Info("removing a network namespace without an allocation", "allocation", e.Name())
			errs = append(errs, f.removeDir(e.Name()))
		}
	}
	return errors.Join(errs...)
}

// reconcileHost restores the bridge and the rules, and removes links and entries without a record.
// The caller holds hostMu. A machine that never had a bridge stays without one.
func (f *Fabric) reconcileHost() error {
	if err := f.w.open(); err != nil {
		if !f.hasBridged() { // an agent without the rights, and without such allocations
			return nil
		}
		return err
	}
	bridge, err := f.w.h.LinkByName(f.c.Bridge)
	exists := err == nil && bridge.Attrs().Alias == owner+f.c.Node
	if !exists && !f.hasBridged() {
		return nil
	}
	if f.raised && (!exists || !f.isWhole()) {
		f.c.Logger.Warn("the bridge or its rules were removed: restoring them", "bridge", f.c.Bridge)
		f.raised = false
	}
	whole := f.raised
	if err := f.raise(); err != nil {
		return err
	}
	changed, err := f.sweepElements()
	if changed || !whole { // an earlier agent may have ended between the change of a rule and its flows
		f.forgetFlows()
	}
	return errors.Join(f.sweepLinks(), err)
}

func (f *Fabric) isWhole() bool { return f.t != nil && f.t.isWhole() }

func (f *Fabric) hasBridged() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nets {
		if n.rec.Mode == ModeBridge {
			return true
		}
	}
	return false
}

func (f *Fabric) sweepLinks() error {
	links, err := f.w.links()
	if err != nil {
		return err
	}
	for _, n := range f.all() {
		delete(links, linkName(f.c.Node, n.rec.Alloc))
	}
	var errs []error
	for name, l := range links {
		f.c.Logger.Info("removing a link without an allocation", "link", name)
		if err := f.w.h.LinkDel(l); err != nil && !isAbsent(err) {
			errs = append(errs, explain("remove the link "+name, err))
		}
	}
	return errors.Join(append(errs, f.sweepNeighbours())...)
}

// sweepNeighbours removes permanent neighbours of the bridge without a record.
func (f *Fabric) sweepNeighbours() error {
	bridge, err := f.w.h.LinkByName(f.c.Bridge)
	if err != nil {
		return explain("find bridge "+f.c.Bridge, err)
	}
	known := map[string]bool{}
	for _, n := range f.all() {
		for _, ip := range n.rec.addresses() {
			known[ip.String()] = true
		}
	}
	list, err := f.w.h.NeighList(bridge.Attrs().Index, 0)
	if err != nil {
		return explain("list the bridge's neighbours", err)
	}
	var errs []error
	for _, x := range list {
		if x.State&netlink.NUD_PERMANENT != 0 && x.IP != nil && !x.IP.IsMulticast() && !known[x.IP.String()] {
			if err := f.w.h.NeighDel(&x); err != nil && !isAbsent(err) {
				errs = append(errs, explain("remove the neighbour "+x.IP.String(), err))
			}
		}
	}
	return errors.Join(errs...)
}

// sweepElements makes the sets equal to the records.
func (f *Fabric) sweepElements() (changed bool, err error) {
	present, err := f.t.list()
	if err != nil {
		return false, err
	}
	wanted := map[element]string{}
	for _, e := range append(gatewayElements(f.gateways()), f.elements()...) {
		wanted[element{set: e.set, key: e.key}] = e.value
	}
	var extra, missing []element
	for e, v := range present {
		if w, ok := wanted[e]; !ok || w != v {
			extra = append(extra, element{e.set, e.key, v})
		}
	}
	for e, w := range wanted {
		if v, ok := present[e]; !ok || w != v {
			missing = append(missing, element{e.set, e.key, w})
		}
	}
	return len(extra)+len(missing) > 0, errors.Join(f.t.remove(extra), f.t.add(missing))
}

// repair restores the namespace, the link and the files of a network.
func (f *Fabric) repair(n *network) error {
	if n.rec.isPlugged() && !n.mu.TryLock() {
		return nil // plugins work on it, perhaps for long
	} else if !n.rec.isPlugged() {
		n.mu.Lock()
	}
	defer n.mu.Unlock()
	f.mu.Lock()
	closing := n.closing || f.nets[n.rec.Alloc] != n
	f.mu.Unlock()
	if closing {
		return nil
	}
	namespace := f.namespace(n.rec.Alloc)
	if !isNamespace(namespace) {
		return nil // its tasks have ended with the machine, or will get a new one with their next start
	}
	if n.rec.Mode == ModeBridge {
		f.hostMu.Lock()
		defer f.hostMu.Unlock()
		link, err := f.w.h.LinkByName(linkName(f.c.Node, n.rec.Alloc))
		bridge, err2 := f.w.h.LinkByName(f.c.Bridge)
		if err2 != nil {
			return explain("find bridge "+f.c.Bridge, err2)
		}
		if err != nil || link.Attrs().MasterIndex != bridge.Attrs().Index {
			f.c.Logger.Warn("the link of an allocation was removed: restoring it", "allocation", n.rec.Alloc)
			if err := f.w.connect(n.rec, namespace); err != nil {
				return err
			}
		}
	}
	if n.rec.isPlugged() && !f.isComplete(n.rec) {
		return nil // the next start of a task completes it
	}
	if err := f.writeFiles(n.rec); err != nil {
		return err
	}
	n.up = true
	return nil
}
