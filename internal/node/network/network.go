// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/coalesce"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Config configures the networks of a node.
type Config struct {
	Node    string // its id
	Bridge  string // name of the bridge
	Subnet  netip.Prefix
	Subnet6 netip.Prefix // invalid: no IPv6
	Dir     string       // directory of the namespaces, which a restart of the machine empties
	Ledger  Ledger
	Logger  *slog.Logger
	// Names answers DNS queries at the bridge's addresses. It is called once they exist, and returns an
	// error if it cannot; nil: allocations use the machine's resolvers.
	Names func(gateways []netip.Addr) error
	CNI   CNI
	// Host is the path of the machine's network namespace; "": that of the process.
	Host string
	// Step is called before each step with its name, by tests; nil: not at all.
	Step func(string)
}

// A Ledger keeps records.
type Ledger interface {
	// Put makes a record durable; nil deletes it. wait blocks until it is.
	Put(key string, value []byte) (wait func() error)
	// Each calls do for every durable record.
	Each(prefix string, do func(key string, value []byte) error) error
}

// A Fabric holds the networks of a node. It is safe for concurrent use.
type Fabric struct {
	c     Config
	w     *wire
	names atomic.Bool // reports whether the node's name server answers at the gateway

	// hostMu guards the machine's part: the bridge and the rules. Lock it after a network.
	hostMu sync.Mutex
	raised bool   // the bridge and the rules were made
	t      *table // nil before

	mu   sync.Mutex
	pool *pool
	nets map[string]*network

	life     context.Context // ends with Close
	end      context.CancelFunc
	removals sync.WaitGroup // and passes over the flows
	flows    *coalesce.Group[struct{}]
	slots    chan struct{} // one per removal that runs in the background
}

// A network is that of one allocation.
type network struct {
	rec  *Record
	gone chan struct{} // closed when the network is removed

	// mu guards the kernel's part.
	mu   sync.Mutex
	up   bool
	kept bool // it was up before, perhaps under an earlier agent: tasks may use it

	// Fabric.mu guards the rest.
	closing, removing bool
	unruled           bool          // its ports lead nowhere any more: its flows have no future
	problem           error         // of the last removal, if it failed
	stuck             chan struct{} // closed if there is a problem
}

// New prepares the networks of a node from the records of its ledger. It changes nothing.
func New(c Config) (*Fabric, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Step == nil {
		c.Step = func(string) {}
	}
	f := &Fabric{c: c, w: &wire{node: c.Node, bridge: c.Bridge, host: c.Host}, pool: newPool(c.Subnet, c.Subnet6), nets: map[string]*network{}}
	f.life, f.end = context.WithCancel(context.Background())
	f.slots = make(chan struct{}, maxRemovals)
	f.flows = coalesce.New(func(context.Context) (struct{}, error) { f.forgetFlows(); return struct{}{}, nil })
	err := c.Ledger.Each(KeyPrefix, func(key string, value []byte) error {
		r, err := decodeRecord(value)
		if err != nil || key != KeyPrefix+r.Alloc {
			c.Logger.Error("cannot read the record of a network: its allocation gets a new network when its tasks start again", "key", key, "error", err)
			return nil
		}
		f.pool.keep(r)
		f.nets[r.Alloc] = &network{rec: r, gone: make(chan struct{}), stuck: make(chan struct{}), kept: true}
		return nil
	})
	return f, err
}

func (f *Fabric) dir(alloc string) string { return filepath.Join(f.c.Dir, alloc) }

func (f *Fabric) namespace(alloc string) string { return filepath.Join(f.dir(alloc), namespaceFile) }

// Find returns the network of an allocation; nil if it has none.
func (f *Fabric) Find(alloc string) *driver.Network {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nets[alloc]
	if n == nil {
		return nil
	}
	return f.describe(n.rec)
}

func (f *Fabric) describe(r *Record) *driver.Network {
	return &driver.Network{
		Namespace: f.namespace(r.Alloc), Hostname: r.hostname(),
		Hosts: filepath.Join(f.dir(r.Alloc), hostsFile), Resolver: filepath.Join(f.dir(r.Alloc), resolverFile),
	}
}

func status(r *Record) *api.AllocNetworkStatus {
	if r.isPlugged() {
		return pluggedStatus(r)
	}
	s := &api.AllocNetworkStatus{DNS: r.DNS}
	if r.Mode == ModeBridge {
		s.InterfaceName, s.Address = Device, r.Address.Addr().String()
		if r.Address6.IsValid() {
			s.AddressIPv6 = r.Address6.Addr().String()
		}
	}
	return s
}

// Up makes an allocation's network, or completes it. When it returns, the network exists and is
// on record.
func (f *Fabric) Up(ctx context.Context, q Request) (*driver.Network, *api.AllocNetworkStatus, error) {
	if !isID(q.Alloc) {
		return nil, nil, fmt.Errorf("make a network: %q is no id of an allocation", q.Alloc)
	}
	n, err := f.reserve(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.gone: // another start failed in the meantime, or the allocation ends
		return nil, nil, errors.New("the network was removed during the start")
	default:
	}
	if !n.up || !isNamespace(f.namespace(q.Alloc)) {
		if err := f.build(ctx, n.rec); err != nil {
			if !n.kept || n.rec.isPlugged() && !f.isComplete(n.rec) { // the next attempt may have another configuration
				err = errors.Join(err, f.drop(n))
			}
			return nil, nil, err
		}
		n.up, n.kept = true, true
		f.setStuck(n, nil)
	}
	return f.describe(n.rec), status(n.rec), nil
}

// reserve returns the allocation's network, or gives it an address and its ports. It waits for
// the end of a network that has one of the ports and is being removed, unless that has failed.
func (f *Fabric) reserve(ctx context.Context, q Request) (*network, error) {
	for {
		n, other, err := f.tryReserve(q)
		switch {
		case err != nil:
			return nil, err
		case other == nil:
			return n, nil
		}
		select {
		case <-other.gone:
		case <-f.stuckNow(other):
			return nil, f.blocked(q, other)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryReserve is one attempt of reserve. It returns the network to wait for as other.
func (f *Fabric) tryReserve(q Request) (n, other *network, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.nets[q.Alloc]; n != nil {
		if n.closing {
			return nil, n, nil
		}
		return n, nil, nil
	}
	for id, o := range f.nets {
		if p, taken := collision(q.Ports, o.rec.Ports); taken {
			if o.closing {
				return nil, o, nil
			}
			return nil, nil, fmt.Errorf("port %d of the node belongs to allocation %s", p.Host, api.ShortID(id))
		}
	}
	r := &Record{Request: q}
	if q.Mode == ModeBridge {
		if r.Address, r.Address6, err = f.pool.take(q.Alloc); err != nil {
			return nil, nil, err
		}
		r.Gateway, r.Gateway6 = f.pool.gateways()
	}
	n = &network{rec: r, gone: make(chan struct{}), stuck: make(chan struct{})}
	f.nets[q.Alloc] = n
	return n, nil, nil
}

// collision returns a port that both lists have on one address.
func collision(a, b []Port) (Port, bool) {
	for _, p := range a {
		for _, q := range b {
			if p.Host == q.Host && !p.Shared && !q.Shared && (!p.IP.IsValid() || !q.IP.IsValid() || p.IP == q.IP) {
				return p, true
			}
		}
	}
	return Port{}, false
}

// build makes the kernel's part of a network. It may be repeated.
func (f *Fabric) build(ctx context.Context, r *Record) error {
	if r.isPlugged() {
		return f.plug(ctx, r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := f.checkFree(r.Ports); err != nil {
		return err
	}
	recorded := f.c.Ledger.Put(KeyPrefix+r.Alloc, data)
	err = f.wireUp(r)
	return errors.Join(err, recorded())
}

func (f *Fabric) wireUp(r *Record) error {
	f.c.Step("namespace")
	namespace := f.namespace(r.Alloc)
	if err := makeNamespace(namespace); err != nil {
		return err
	}
	if r.Mode == ModeBridge {
		if err := f.connect(r, namespace); err != nil {
			return err
		}
		f.c.Step("flows")
		if len(r.Ports) > 0 {
			f.forgetFlowsLater()
		}
	}
	f.c.Step("files")
	return f.writeFiles(r)
}

func (f *Fabric) connect(r *Record, namespace string) error {
	f.hostMu.Lock()
	defer f.hostMu.Unlock()
	f.c.Step("bridge")
	if err := f.raise(); err != nil {
		return err
	}
	f.c.Step("link")
	if err := f.w.connect(r, namespace); err != nil {
		return err
	}
	f.c.Step("rules")
	return f.t.add(r.elements(f.c.Node))
}

// open opens the ways to the kernel. The caller holds hostMu.
func (f *Fabric) open() error {
	if err := f.w.open(); err != nil {
		return err
	}
	if f.t != nil {
		return nil
	}
	ns := -1
	if f.c.Host != "" {
		host, err := os.Open(f.c.Host)
		if err != nil {
			return err
		}
		defer host.Close()
		ns = int(host.Fd())
	}
	t, err := openTable(f.c.Node, f.c.Bridge, ns)
	f.t = t
	return err
}

// raise makes the bridge and the rules, once. The caller holds hostMu.
func (f *Fabric) raise() error {
	if f.raised {
		return nil
	}
	if err := f.open(); err != nil {
		return err
	}
	gateways := f.gateways()
	if _, err := f.w.raiseBridge(gateways); err != nil {
		return err
	}
	if err := f.t.replace(gateways, f.elements()); err != nil {
		return err
	}
	if err := f.t.acceptForwarded(); err != nil {
		f.c.Logger.Warn("cannot let traffic of allocations pass Docker's rules: ports of allocations may not be reachable from other machines", "error", err)
	}
	f.raised = true
	f.answerNames(gateways)
	return nil
}

func (f *Fabric) answerNames(gateways []netip.Prefix) {
	if f.c.Names == nil || f.names.Load() {
		return
	}
	var at []netip.Addr
	for _, g := range gateways {
		at = append(at, g.Addr())
	}
	if err := f.c.Names(at); err != nil {
		f.c.Logger.Warn("cannot answer names on the bridge: allocations use the machine's resolvers, and do not see names of services", "addresses", at, "error", err)
		return
	}
	f.names.Store(true)
}

// gateways returns the bridge's addresses: the configured ones, and those that existing
// allocations use.
func (f *Fabric) gateways() (all []netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[netip.Addr]bool{}
	add := func(ip netip.Addr, bits int) {
		if ip.IsValid() && !seen[ip] {
			seen[ip] = true
			all = append(all, netip.PrefixFrom(ip, bits))
		}
	}
	four, six := f.pool.gateways()
	add(four, f.pool.subnet.Bits())
	if six.IsValid() {
		add(six, f.pool.subnet6.Bits())
	}
	for _, n := range f.nets {
		add(n.rec.Gateway, n.rec.Address.Bits())
		add(n.rec.Gateway6, n.rec.Address6.Bits())
	}
	return all
}

// elements returns the entries of all networks that are up.
func (f *Fabric) elements() (all []element) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nets {
		if !n.closing {
			all = append(all, n.rec.elements(f.c.Node)...)
		}
	}
	return all
}

// Stop ends the plugins that remove networks, for which others may wait. The next agent calls them again.
func (f *Fabric) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

// Close closes the ways to the kernel, and ends the removals that run. The networks stay.
func (f *Fabric) Close() {
	f.Stop()
	f.removals.Wait()
	f.hostMu.Lock()
	defer f.hostMu.Unlock()
	f.w.close()
	if f.t != nil {
		f.t.close()
		f.t = nil
	}
}
