// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/cni"
	"github.com/reeve-run/reeve/internal/node/thread"
)

// CNI configures the networks that plugins make.
type CNI struct {
	Dirs     []string      // of configurations
	Paths    []string      // directories of plugins
	Patience time.Duration // for each plugin; 0: the default
}

// maxRemovals bounds how many networks are removed at a time beside the others: plugins that fail may
// leave many, and each is a process.
const maxRemovals = 32

// A Chain is the part of a record that plugins make. It is on record before the first ADD, with the
// configuration that DEL needs, which may change or disappear in the meantime.
type Chain struct {
	Network *cni.Network
	Result  *cni.Result `json:",omitempty"` // nil: some of the plugins may have succeeded
}

// runtime returns what plugins learn about the allocation.
func (f *Fabric) runtime(r *Record) cni.Runtime {
	at := cni.Runtime{Paths: f.c.CNI.Paths, Container: r.Alloc, Interface: Device, Args: r.Args, Patience: f.c.CNI.Patience}
	if ns := f.namespace(r.Alloc); isNamespace(ns) {
		at.Namespace = ns
	}
	for _, p := range r.Ports {
		for _, protocol := range []string{"tcp", "udp"} {
			m := cni.PortMapping{HostPort: p.Host, ContainerPort: p.To, Protocol: protocol}
			if p.IP.IsValid() {
				m.HostIP = p.IP.String()
			}
			at.Ports = append(at.Ports, m)
		}
	}
	return at
}

// isComplete reports whether plugins gave the allocation its network, which tasks may use.
func (f *Fabric) isComplete(r *Record) bool {
	return r.Chain != nil && r.Chain.Result != nil && isNamespace(f.namespace(r.Alloc))
}

// plug gives an allocation the network of plugins. It replaces what an interrupted attempt left. It is
// called with the network's mutex, which guards Record.Chain. The caller drops an incomplete network
// after an error.
func (f *Fabric) plug(ctx context.Context, r *Record) error {
	if f.isComplete(r) {
		return f.writeFiles(r)
	}
	if err := f.unplug(r); err != nil {
		return err
	}
	found, err := cni.Find(f.c.CNI.Dirs, api.CNIName(r.Mode))
	if err != nil {
		return err
	}
	if err := found.Missing(f.c.CNI.Paths); err != nil {
		return err
	}
	if err := f.checkFree(r.Ports); err != nil {
		return err
	}
	r.Chain = &Chain{Network: found}
	f.c.Step("record")
	if err := f.record(r); err != nil {
		return err
	}
	if err := f.add(ctx, r); err != nil {
		return err
	}
	f.c.Step("files")
	return f.writeFiles(r)
}

func (f *Fabric) add(ctx context.Context, r *Record) error {
	f.c.Step("namespace")
	if err := makeNamespace(f.namespace(r.Alloc)); err != nil {
		return err
	}
	f.c.Step("add")
	var result *cni.Result
	err := f.w.inHost(func() (err error) {
		result, err = r.Chain.Network.Add(ctx, f.runtime(r))
		return err
	})
	if err != nil {
		return err
	}
	r.Chain.Result = result
	f.c.Step("result")
	return f.record(r)
}

// unplug undoes what the plugins of the record did, and removes the namespace. It may be repeated.
func (f *Fabric) unplug(r *Record) error {
	if r.Chain != nil {
		f.c.Step("delete")
		var previous json.RawMessage
		if r.Chain.Result != nil {
			previous = r.Chain.Result.Raw
		} else {
			cni.EndStrays(r.Alloc) // of an ADD that was interrupted
		}
		err := f.w.inHost(func() error { return r.Chain.Network.Delete(f.life, f.runtime(r), previous) })
		if err != nil {
			return err
		}
		f.c.Step("deleted")
		r.Chain = nil
	}
	return removeNamespace(f.namespace(r.Alloc))
}

// record makes the record durable.
func (f *Fabric) record(r *Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return f.c.Ledger.Put(KeyPrefix+r.Alloc, data)()
}

// plugged returns the addresses that plugins gave to the allocation.
func (r *Record) plugged() (all []netip.Addr) {
	if r.Chain == nil || r.Chain.Result == nil {
		return nil
	}
	for _, ip := range []netip.Addr{r.Chain.Result.Address, r.Chain.Result.Address6} {
		if ip.IsValid() {
			all = append(all, ip)
		}
	}
	return all
}

// pluggedStatus describes the network to the servers.
func pluggedStatus(r *Record) *api.AllocNetworkStatus {
	s := &api.AllocNetworkStatus{DNS: r.DNS, InterfaceName: Device}
	if r.Chain == nil || r.Chain.Result == nil {
		return s
	}
	result := r.Chain.Result
	if result.Interface != "" {
		s.InterfaceName = result.Interface
	}
	if result.Address.IsValid() {
		s.Address = result.Address.String()
	}
	if result.Address6.IsValid() {
		s.AddressIPv6 = result.Address6.String()
	}
	if s.DNS == nil && len(result.Servers)+len(result.Searches)+len(result.Options) > 0 {
		s.DNS = &api.DNS{Servers: result.Servers, Searches: result.Searches, Options: result.Options}
	}
	return s
}

// pluggedResolver returns the text of the resolver's file: what the job says, then what the plugins
// say, then the machine's.
func pluggedResolver(r *Record) string {
	host := HostResolvers(true)
	servers, searches, options := host.Servers, host.Searches, host.Options
	if r.Chain != nil && r.Chain.Result != nil {
		if result := r.Chain.Result; len(result.Servers) > 0 {
			servers, searches, options = result.Servers, result.Searches, result.Options
		}
	}
	return resolverText(r.DNS, servers, searches, options)
}

// validateChain returns an error for a record whose chain cannot be undone.
func (r *Record) validateChain() error {
	switch {
	case r.isPlugged() && !api.IsCNIName(api.CNIName(r.Mode)), r.Chain != nil && !r.isPlugged():
		return fmt.Errorf("read the record of a network: mode %q", r.Mode)
	case r.Chain != nil && (r.Chain.Network == nil || len(r.Chain.Network.Plugins) == 0):
		return errors.New("read the record of a network: it lacks the configuration of its plugins")
	}
	return nil
}

func (r *Record) isPlugged() bool { return api.IsCNI(r.Mode) }

// removeLater removes the network of plugins beside the caller, because plugins may hang. One
// removal of a network runs at a time; Close ends those that run.
func (f *Fabric) removeLater(n *network) {
	complete := f.Release(n.rec.Alloc)
	f.mu.Lock()
	busy := n.removing || f.life.Err() != nil
	n.removing = true
	if !busy {
		f.removals.Add(1)
	}
	f.mu.Unlock()
	if busy {
		return
	}
	go func() {
		defer f.removals.Done()
		select {
		case f.slots <- struct{}{}:
			f.removeAgain(n, complete)
			<-f.slots
		case <-f.life.Done():
		}
		f.mu.Lock()
		n.removing = false
		f.mu.Unlock()
	}()
}

// removeAgain logs why a removal fails, unless that was the reason the last time, too.
func (f *Fabric) removeAgain(n *network, complete func() error) {
	last := f.problemOf(n)
	err := complete()
	if err != nil && f.life.Err() == nil && (last == nil || last.Error() != err.Error()) {
		f.c.Logger.Warn("cannot remove an allocation's network: the agent tries again in a minute", "allocation", n.rec.Alloc, "error", err)
	}
}

// OrDefaults returns the configuration with the usual directories where it names none.
func (c CNI) OrDefaults() CNI {
	if len(c.Dirs) == 0 {
		c.Dirs = cni.DefaultConfigDirs
	}
	if len(c.Paths) == 0 {
		c.Paths = cni.DefaultPluginPaths
	}
	return c
}

// CanMakeNamespaces returns why the agent cannot make network namespaces; nil if it can. The namespace
// of its attempt ends with it.
func CanMakeNamespaces() error {
	return thread.Run(func() error { return explain("make a network namespace", unix.Unshare(unix.CLONE_NEWNET)) })
}
