// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"os"
)

// Release begins the removal of an allocation's network, whose ports others may wait for. Call the
// result to complete it. It is safe to call both repeatedly.
func (f *Fabric) Release(alloc string) (complete func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nets[alloc]
	if n == nil {
		return func() error { return nil }
	}
	n.closing = true
	return func() error { return f.remove(n) }
}

func (f *Fabric) remove(n *network) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return f.drop(n)
}

// drop removes a network whose mutex is held.
func (f *Fabric) drop(n *network) error {
	select {
	case <-n.gone:
		return nil
	default:
	}
	n.up = false
	if err := f.clear(n); err != nil {
		f.setStuck(n, err)
		return err
	}
	f.c.Step("forget")
	wait := f.c.Ledger.Put(KeyPrefix+n.rec.Alloc, nil)
	f.mu.Lock()
	delete(f.nets, n.rec.Alloc)
	f.pool.free(n.rec)
	close(n.gone)
	f.mu.Unlock()
	return wait()
}

// clear removes the kernel's part of a network and its files. It may be repeated.
func (f *Fabric) clear(n *network) error {
	r := n.rec
	if r.Mode == ModeBridge {
		if err := f.disconnect(n); err != nil {
			return err
		}
	}
	if r.isPlugged() {
		if err := f.unplug(r); err != nil {
			return err
		}
	}
	f.c.Step("unbind")
	return f.removeDir(r.Alloc)
}

func (f *Fabric) disconnect(n *network) error {
	if err := f.closePorts(n); err != nil {
		return err
	}
	f.c.Step("forget flows")
	flows := make(chan struct{})
	go func() {
		defer close(flows)
		f.flows.Do(context.WithoutCancel(f.life))
	}()
	err := f.unlink(n.rec)
	<-flows // another allocation may get the address afterwards
	return err
}

func (f *Fabric) closePorts(n *network) error {
	f.hostMu.Lock()
	defer f.hostMu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	f.c.Step("close ports")
	if err := f.t.remove(n.rec.elements(f.c.Node)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n.unruled = true
	return nil
}

func (f *Fabric) unlink(r *Record) error {
	f.c.Step("unlink")
	return errors.Join(f.forgetNeighbours(r), f.w.disconnect(r.Alloc))
}

func (f *Fabric) forgetNeighbours(r *Record) error {
	f.hostMu.Lock()
	defer f.hostMu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	return f.w.forget(r)
}

func (f *Fabric) removeDir(alloc string) error {
	if err := removeNamespace(f.namespace(alloc)); err != nil {
		return err
	}
	return os.RemoveAll(f.dir(alloc))
}
