// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package node wires a node agent together: it says what the machine has,
// holds one stream of the allocations that the servers placed on it, runs them,
// reports how they are, and answers questions about them.
//
// A node is a client of the servers' public API and nothing more; it never
// imports them. It starts without them, too: what it ran before is looked after
// from the first moment, whether a server can be reached or not.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/fingerprint"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// Servers is what a node asks of the servers. Errors carry the codes of
// package api; CodeNotFound means that the servers do not know the node.
type Servers interface {
	Register(ctx context.Context, n *api.Node) (*api.NodeHeartbeatResponse, error)
	Heartbeat(ctx context.Context, nodeID, secret string) (*api.NodeHeartbeatResponse, error)
	// Stream calls receive for every message until ctx ends or the stream breaks.
	// The position is the one up to which the node was told what it runs.
	Stream(ctx context.Context, nodeID, secret string, told api.Position, receive func(*api.NodeAllocations) error) error
	UpdateAllocations(ctx context.Context, nodeID, secret string, allocs []*api.Allocation) error
	// OfferOrphans returns why some are refused, by id.
	OfferOrphans(ctx context.Context, nodeID, secret string, orphans []*api.OfferedOrphan) (map[string]string, error)
}

// Config is what a node is made from. DataDir, Servers and Drivers are needed;
// everything else has a default.
type Config struct {
	DataDir       string
	Name          string // the host's name
	Datacenter    string // "dc1"
	Pool          string // "default"
	Class         string
	Meta          map[string]string
	Attributes    map[string]string // added to what is found
	HTTPAddr      string            // host:port by which others reach this agent's API
	Interface     string            // network interface whose address ports are published on
	Address       string            // that address, if it is not to be found out
	Version       string            // of the agent
	ReservedCPU   uint64            // MHz that allocations never get
	ReservedMB    uint64            // memory
	ReservedDisk  uint64            // MB
	ReservedPorts string            // "22,80,8000-8100"
	ReservedCores []uint16          // ids of cores that tasks never have for themselves
	Devices       []*api.NodeDeviceGroup
	HostNetworks  []api.HostNetwork // their addresses are found out
	KeepEnded     int               // directories of ended allocations to keep: 50
	Servers       Servers
	// Data returns the data of an allocation of another node as a tar archive,
	// once it has ended; nil if it goes on, or there is none. A node without Data
	// takes nothing over from others.
	Data func(ctx context.Context, alloc string) (io.ReadCloser, error)
	// Ended waits until an allocation of another node has ended, or its node is not
	// heard of. A node without it waits for nobody.
	Ended   func(ctx context.Context, alloc string) error
	Drivers map[string]driver.Driver // by the name that job files use
	Keeper  Keeper                   // of the tasks that outlive the agent; nil: none does
	Logger  *slog.Logger
	// Uptime is how long the machine has been up, with the time that it was
	// suspended; the kernel's by default.
	Uptime func() time.Duration
}

// A Node runs the allocations of one machine.
type Node struct {
	config   Config
	log      *slog.Logger
	dirs     *allocdir.Tree
	ledger   *ledger.Ledger
	checks   *check.Scheduler
	host     *runner.Host
	reporter *reporter
	identity identity
	anew     bool                     // the identity was made by this agent
	stop     context.CancelFunc       // of host.Context
	register chan struct{}            // asks for another registration
	offers   chan struct{}            // asks for strays to be offered
	joined   chan struct{}            // closed when the servers know the node
	self     atomic.Pointer[api.Node] // replaced, never changed
	refused  atomic.Int64             // uptime since which the servers listen to another agent; 0: they listen to this one
	moved    bool                     // the data directory was written elsewhere
	beat     chan struct{}            // asks for a heartbeat at once
	unheard  atomic.Bool              // the last heartbeat was not answered
	contact  atomic.Int64             // uptime at which what the servers answered last was sent

	mu       sync.Mutex
	runners  map[string]*runner.Runner
	jobs     map[string]*keptJob
	cluster  string                  // that the node is of; "" before it joined one that says so
	timeline string                  // that what it was told last is of
	strays   map[string]string       // allocations that its servers have not known so far, with the cluster that they are of
	untold   string                  // the cluster that what it runs is of, while its servers have not been told; "" if they have
	doomed   map[string]bool         // to be removed when they have ended
	ended    []string                // acknowledged as ended, oldest first
	measured map[string]driver.Stats // the last measurements, for rates
	meter    *fingerprint.Meter
	kept     map[string]keptTasks     // what outlived the agent before and no runner has claimed, by allocation
	keptOf   string                   // the cluster that these are of; "" if that is not known
	tidied   bool                     // what nobody claims was dealt with
	came     map[string]time.Duration // uptime at which allocations came that may not run for ever without servers
	closed   bool
	tasks    sync.WaitGroup // goroutines that start or remove runners
}

// New prepares a node from its data directory. It fails if the directory
// cannot be used, or another agent uses it.
func New(c Config) (*Node, error) {
	if c.DataDir == "" {
		return nil, errors.New("the node has no data directory: set data_dir")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Datacenter == "" {
		c.Datacenter = "dc1"
	}
	if c.Pool == "" {
		c.Pool = api.NodePoolDefault
	}
	if c.Uptime == nil {
		c.Uptime = uptime
	}
	if c.KeepEnded == 0 {
		c.KeepEnded = 50
	}
	abs, err := filepath.Abs(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	c.DataDir = abs
	l, err := ledger.Open(filepath.Join(c.DataDir, "node.db"))
	if err != nil {
		return nil, err
	}
	dirs, err := allocdir.Open(c.DataDir)
	if err != nil {
		l.Close()
		return nil, err
	}
	id, anew, err := loadIdentity(l, c.DataDir)
	if err != nil {
		l.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Node{
		config: c, log: c.Logger, dirs: dirs, ledger: l, checks: check.New(), identity: id, anew: anew, stop: stop,
		register: make(chan struct{}, 1), beat: make(chan struct{}, 1), joined: make(chan struct{}), offers: make(chan struct{}, 1), strays: map[string]string{},
		runners: map[string]*runner.Runner{}, jobs: map[string]*keptJob{}, doomed: map[string]bool{}, measured: map[string]driver.Stats{},
		meter: fingerprint.NewMeter(c.DataDir),
		kept:  map[string]keptTasks{}, came: map[string]time.Duration{},
	}
	n.reporter = newReporter(n.sendReports, n.acknowledged)
	n.host = &runner.Host{
		Drivers: c.Drivers, Dirs: dirs, Ledger: l, Checks: n.checks, Node: n.Node, Environ: os.Environ(), Logger: c.Logger,
		Context: ctx,
		Changed: func(r *runner.Runner, urgent bool) { n.reporter.mark(r.ID(), r.Report, urgent) },
	}
	n.self.Store(n.describe(ctx))
	n.loadContact()
	if err := errors.Join(n.notePlace(), n.loadKept(ctx), n.restore()); err != nil {
		stop()
		l.Close()
		return nil, err
	}
	n.keepPassport()
	return n, nil
}

// ID names the node; it stays the same as long as its data directory does.
func (n *Node) ID() string { return n.identity.ID }

// Node is what the servers are told of the node.
func (n *Node) Node() *api.Node {
	return n.self.Load()
}

// Run looks after the node until ctx ends. Its tasks go on: the next agent on
// the same data directory finds them again.
func (n *Node) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { n.checks.Run(ctx) })
	if n.anew {
		n.endForeign(ctx)
	}
	if !n.moved {
		n.resume()
	}
	loops.Go(func() { n.keepRegistered(ctx) })
	loops.Go(func() { n.keepStreaming(ctx) })
	loops.Go(func() { n.keepOffering(ctx) })
	loops.Go(func() { n.reporter.run(ctx, n.joined) })
	loops.Go(func() { n.watchDrivers(ctx) })
	loops.Go(func() { n.keepFenced(ctx) })
	<-ctx.Done()
	loops.Wait()
	return n.close()
}

// close leaves the tasks alone and ends everything else.
func (n *Node) close() error {
	n.stop()
	n.mu.Lock()
	n.closed = true
	runners := n.all()
	n.mu.Unlock()
	n.tasks.Wait()
	for _, r := range runners {
		r.Wait()
	}
	n.dirs.Close()
	return n.ledger.Close()
}

// all lists the runners; the mutex is held.
func (n *Node) all() []*runner.Runner {
	list := make([]*runner.Runner, 0, len(n.runners))
	for _, r := range n.runners {
		list = append(list, r)
	}
	return list
}

// StopAll stops every allocation, without the delays that jobs ask for, and
// waits until none is left or ctx ends. Call it while Run runs.
func (n *Node) StopAll(ctx context.Context) error {
	n.mu.Lock()
	runners := n.all()
	n.mu.Unlock()
	for _, r := range runners {
		r.Stop("The agent is stopping", true)
	}
	for _, r := range runners {
		select {
		case <-r.Ended():
		case <-ctx.Done():
			return fmt.Errorf("stop allocation %s: %w", r.ID(), ctx.Err())
		}
	}
	return nil
}

// describe measures the machine.
func (n *Node) describe(ctx context.Context) *api.Node {
	c := n.config
	m := fingerprint.Measure(fingerprint.Options{DataDir: c.DataDir, Version: c.Version, Interface: c.Interface, Address: c.Address})
	m.Keep(c.ReservedCores)
	m.Resources.Devices = fingerprint.Devices(c.Devices)
	networks, missing := fingerprint.HostNetworks(c.HostNetworks)
	if n.self.Load() == nil && len(missing) > 0 {
		n.log.Warn("host networks have no address on this machine", "networks", missing)
	}
	self := &api.Node{
		HostNetworks: networks,
		ID:           n.identity.ID, SecretID: n.identity.Secret, Datacenter: c.Datacenter, Name: c.Name, HTTPAddr: c.HTTPAddr,
		Attributes: m.Attributes, Resources: m.Resources, Meta: c.Meta, NodeClass: c.Class, NodePool: c.Pool,
		Reserved: &api.NodeReserved{
			CPU:      api.NodeReservedCPU{CPUShares: c.ReservedCPU},
			Memory:   api.NodeReservedMemory{MemoryMB: c.ReservedMB},
			Disk:     api.NodeReservedDisk{DiskMB: c.ReservedDisk},
			Networks: api.NodeReservedNetworks{ReservedHostPorts: c.ReservedPorts},
		},
		Status: api.NodeStatusInit, SchedulingEligibility: api.NodeEligible, Drivers: map[string]*api.DriverStatus{},
	}
	if self.Name == "" {
		self.Name = m.Attributes["unique.hostname"]
	}
	if self.Meta == nil {
		self.Meta = map[string]string{}
	}
	for k, v := range c.Attributes {
		self.Attributes[k] = v
	}
	for name, d := range c.Drivers {
		status := d.Fingerprint(ctx)
		if status == nil {
			continue
		}
		if status.UpdateTime.IsZero() {
			status.UpdateTime = time.Now()
		}
		self.Drivers[name] = status
		for k, v := range status.Attributes {
			self.Attributes[k] = v
		}
		if status.Detected && status.Healthy {
			self.Attributes["driver."+name] = "1"
		} else {
			delete(self.Attributes, "driver."+name)
		}
	}
	self.ComputedClass = api.ComputeClass(self)
	return self
}
