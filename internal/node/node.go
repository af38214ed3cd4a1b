// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package node assembles a node agent: it describes the machine, follows one stream of the
// allocations that the servers placed on it, runs them, reports their states, and answers
// questions about them.
//
// A node is a client of the servers' public API and nothing more; it never imports them. It
// also starts without them: it takes care of its running allocations from the first moment,
// whether or not it reaches a server.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/artifact"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/fingerprint"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/node/network"
	"github.com/reeve-run/reeve/internal/node/runner"
	"github.com/reeve-run/reeve/internal/node/taskenv"
	"github.com/reeve-run/reeve/internal/node/templates"
	"github.com/reeve-run/reeve/internal/node/volume"
)

// Servers is the part of the servers' API that a node uses. Errors carry the codes of
// package api; CodeNotFound means that the servers do not know the node.
type Servers interface {
	Register(ctx context.Context, n *api.Node) (*api.NodeHeartbeatResponse, error)
	Heartbeat(ctx context.Context, nodeID string) (*api.NodeHeartbeatResponse, error)
	// Stream calls receive for every message until ctx ends or the stream breaks. told is
	// the position of the last message that the node received.
	Stream(ctx context.Context, nodeID string, told api.Position, receive func(*api.NodeAllocations) error) error
	UpdateAllocations(ctx context.Context, nodeID string, allocs []*api.Allocation) error
	// SignIdentities returns the signed tokens of tasks that the node runs, in the order of the requests.
	SignIdentities(ctx context.Context, nodeID string, requests []*api.IdentityRequest) ([]*api.IdentityResponse, error)
	// TemplateValues returns the values of templates that differ from those of the node, once one does.
	TemplateValues(ctx context.Context, nodeID string, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error)
	// PinImage returns the digest of an image that a task of the node must run.
	PinImage(ctx context.Context, nodeID string, req *api.ImagePinRequest) (*api.ImagePinResponse, error)
	// ImageUses returns the uses of images by jobs that are registered.
	ImageUses(ctx context.Context, nodeID string, req *api.ImageUsesRequest) (*api.ImageUsesResponse, error)
	// OfferOrphans returns the reasons for rejected orphans, by allocation id.
	OfferOrphans(ctx context.Context, nodeID string, orphans []*api.OfferedOrphan) (map[string]string, error)
	// ReportVolumes reports on the node's dynamic volumes.
	ReportVolumes(ctx context.Context, nodeID string, reports []*api.HostVolumeReport) error
}

// Config configures a node. DataDir, Servers and Drivers are required; all other fields have
// defaults.
type Config struct {
	DataDir       string
	ID            string // with which the machine joined its cluster; default: one of the node's own
	Name          string // default: the host's name
	Datacenter    string // default: "dc1"
	Pool          string // default: "default"
	Class         string
	Meta          map[string]string
	Attributes    map[string]string // added to the fingerprinted ones
	HTTPAddr      string            // host:port at which clients reach this agent's API
	Interface     string            // network interface on whose address ports are published
	Member        string            // IP address of the agent in its cluster's network
	Address       string            // that address; default: the interface's
	Version       string            // of the agent
	ReservedCPU   uint64            // MHz reserved for the host
	ReservedMB    uint64            // memory reserved for the host
	ReservedDisk  uint64            // MB of disk reserved for the host
	ReservedPorts string            // "22,80,8000-8100"
	ReservedCores []uint16          // ids of cores that are never dedicated to tasks
	Devices       device.Config
	HostNetworks  []api.HostNetwork              // their addresses are fingerprinted
	HostVolumes   map[string]*api.HostVolumeInfo // directories that tasks may use, by name
	VolumesDir    string                         // of dynamic volumes; default: in the data directory
	VolumePlugins string                         // directory of their plugins; default: in the data directory
	KeepEnded     int                            // number of ended allocations whose directories are kept; default: 50
	Bridge        *Bridge                        // networks of allocations; nil: they use the node's
	Servers       Servers
	// Data returns the data of an ended allocation of another node as a tar archive; nil if
	// the allocation still runs or has no data. A node without Data inherits no data from
	// other nodes.
	Data func(ctx context.Context, alloc string) (io.ReadCloser, error)
	// Ended waits until an allocation of another node has ended, or its node is lost. A node
	// without Ended does not wait.
	Ended func(ctx context.Context, alloc string) error
	// ReadVariable reads a variable with the token of a task; nil: tasks have no secret blocks.
	ReadVariable ReadVariable
	PluginDir    string                   // of programs that provide secrets; default: in the data directory
	Artifacts    artifact.Config          // Dir: set by the node
	Drivers      map[string]driver.Driver // by their names in job files
	Images       Images                   // of containers; nil: the node keeps none
	Keeper       Keeper                   // keeps tasks that outlive the agent; nil: no driver has such tasks
	Logger       *slog.Logger
	Traffic      taskenv.Traffic
	// ServeTask serves the API of the agent on the socket of a task until stop is called; nil: tasks
	// have no socket.
	ServeTask func(alloc, task string, l net.Listener) (stop func())
	// Uptime returns how long the machine has been up, including suspension; default: the
	// kernel's value.
	Uptime func() time.Duration
}

// A Node runs the allocations of one machine.
type Node struct {
	config          Config
	log             *slog.Logger
	dirs            *allocdir.Tree
	devices         atomic.Pointer[device.Set]
	artifacts       *artifact.Fetcher
	ledger          *ledger.Ledger
	checks          *check.Scheduler
	host            *runner.Host
	networks        *networks // nil without Config.Bridge
	reporter        *reporter
	volumes         *volume.Keeper
	prefetcher      *prefetcher
	plugins         map[string]string // attributes of the plugins of volumes
	identity        identity
	identityCreated bool                     // reports whether this agent created the identity
	stop            context.CancelFunc       // of host.Context
	register        chan struct{}            // requests another registration
	offers          chan struct{}            // requests an offer of the strays
	joined          chan struct{}            // closed when the servers know the node
	self            atomic.Pointer[api.Node] // replaced, never changed
	rejectedSince   atomic.Int64             // uptime since which the servers reject this agent as a twin; 0: they accept it
	moved           bool                     // reports whether the data directory was written elsewhere
	beat            chan struct{}            // requests a heartbeat
	heartbeatFailed atomic.Bool              // reports whether the last heartbeat failed
	contact         atomic.Int64             // send time, as an uptime, of the last request that the servers answered

	mu             sync.Mutex
	runners        map[string]*runner.Runner
	jobs           map[string]*keptJob
	cluster        string                  // cluster of the node; "" until it joins one that has a name
	timeline       string                  // timeline of the last message
	strays         map[string]string       // allocations unknown to the servers, with the cluster that placed each
	unoffered      string                  // former cluster of the strays that were not offered yet; "" if all were
	doomed         map[string]bool         // allocations to remove when they have ended
	ended          []string                // ended allocations that the servers acknowledged, oldest first
	measured       map[string]driver.Stats // last measurements, for rates
	meter          *fingerprint.Meter
	kept           map[string]keptTasks // tasks that outlived the previous agent and have no runner, by allocation
	keptOf         string               // cluster of the kept tasks; "" if unknown
	unclaimedEnded bool                 // reports whether unclaimed tasks were ended
	sessions       execSessions
	taskMeter      taskMeter
	arrivals       map[string]time.Duration // uptimes at which allocations with stop_on_client_after arrived
	closed         bool
	tasks          sync.WaitGroup // goroutines that start or remove runners
}

// New prepares a node from its data directory. It fails if the directory cannot be used, or
// if another agent uses it.
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
	id, anew, err := loadIdentity(l, c.DataDir, c.ID)
	if err != nil {
		l.Close()
		return nil, err
	}
	c.Artifacts.Dir = filepath.Join(c.DataDir, "artifacts")
	artifacts, err := artifact.New(c.Artifacts)
	if err != nil {
		l.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Node{
		config: c, log: c.Logger, artifacts: artifacts, dirs: dirs, ledger: l, checks: check.New(), identity: id, identityCreated: anew, stop: stop,
		register: make(chan struct{}, 1), beat: make(chan struct{}, 1), joined: make(chan struct{}), offers: make(chan struct{}, 1), strays: map[string]string{},
		runners: map[string]*runner.Runner{}, jobs: map[string]*keptJob{}, doomed: map[string]bool{}, measured: map[string]driver.Stats{},
		meter: fingerprint.NewMeter(c.DataDir),
		kept:  map[string]keptTasks{}, arrivals: map[string]time.Duration{},
	}
	if n.volumes, err = n.openVolumes(); err != nil {
		stop()
		l.Close()
		return nil, err
	}
	n.plugins = n.volumes.Fingerprint(ctx)
	n.prefetcher = newPrefetcher(n.pullAhead, c.Logger)
	n.reporter = newReporter(n.sendReports, n.acknowledged)
	n.host = &runner.Host{
		Drivers: c.Drivers, Resolver: network.HostResolverText, Dirs: dirs, Devices: n.deviceEdits, Ledger: l, Checks: n.checks, Node: n.Node, Environ: os.Environ(), Logger: c.Logger,
		Context: ctx, Artifacts: artifacts, Secrets: newSecretSources(c), Traffic: c.Traffic, Serve: c.ServeTask, Volume: n.volumes.Path, Pin: n.pinImage,
		Identity: newSigner(ctx, func(ctx context.Context, requests []*api.IdentityRequest) ([]*api.IdentityResponse, error) {
			return c.Servers.SignIdentities(ctx, n.identity.ID, requests)
		}).sign,
		Templates: templates.New(ctx, func(ctx context.Context, r *api.TemplateValuesRequest) (*api.TemplateValuesResponse, error) {
			return c.Servers.TemplateValues(ctx, n.identity.ID, r)
		}, c.Logger),
		Changed: func(r *runner.Runner, urgent bool) { n.reporter.mark(r.ID(), r.Report, urgent) },
	}
	if err := n.openNetworks(); err != nil {
		stop()
		l.Close()
		return nil, err
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

// ID returns the node's id, which stays the same as long as its data directory exists.
func (n *Node) ID() string { return n.identity.ID }

// Node returns the node's description for the servers.
func (n *Node) Node() *api.Node {
	return n.self.Load()
}

// Run runs the node until ctx ends. Its tasks outlive it: the next agent on the same data
// directory finds them.
func (n *Node) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { n.checks.Run(ctx) })
	if n.identityCreated {
		n.endForeign(ctx)
	}
	n.networks.reconcile(n.lives)
	loops.Go(func() { n.networks.run(ctx, n.lives) })
	if !n.moved {
		n.resume()
	}
	loops.Go(func() { n.keepRegistered(ctx) })
	loops.Go(func() { n.keepStreaming(ctx) })
	loops.Go(func() { n.keepOffering(ctx) })
	loops.Go(func() { n.reporter.run(ctx, n.joined) })
	loops.Go(func() { n.watchDrivers(ctx) })
	loops.Go(func() { n.keepFenced(ctx) })
	loops.Go(func() { n.volumes.Run(ctx) })
	loops.Go(func() { n.prefetcher.run(ctx) })
	<-ctx.Done()
	loops.Wait()
	return n.close()
}

// close stops everything except the tasks.
func (n *Node) close() error {
	n.stop()
	n.mu.Lock()
	n.closed = true
	runners := n.all()
	n.mu.Unlock()
	n.networks.stop()
	n.tasks.Wait()
	for _, r := range runners {
		r.Wait()
	}
	n.artifacts.Close()
	n.networks.close()
	n.dirs.Close()
	return n.ledger.Close()
}

// all returns the runners. The mutex is held.
func (n *Node) all() []*runner.Runner {
	list := make([]*runner.Runner, 0, len(n.runners))
	for _, r := range n.runners {
		list = append(list, r)
	}
	return list
}

// StopAll stops every allocation, without shutdown delays, and waits until all have ended or
// ctx ends. Call it while Run runs.
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
	m := fingerprint.Measure(fingerprint.Options{DataDir: c.DataDir, Version: c.Version, Interface: c.Interface, Address: c.Address, Member: c.Member})
	m.Keep(c.ReservedCores)
	m.Resources.Devices = n.readDevices()
	networks, missing := fingerprint.HostNetworks(c.HostNetworks)
	if n.self.Load() == nil && len(missing) > 0 {
		n.log.Warn("host networks have no address on this machine", "networks", missing)
	}
	volumes, absent := fingerprint.HostVolumes(c.HostVolumes)
	if n.self.Load() == nil && len(absent) > 0 {
		n.log.Warn("host volumes are not directories of this machine: no task can use them", "volumes", absent)
	}
	self := &api.Node{
		HostNetworks: networks, HostVolumes: volumes,
		ID: n.identity.ID, Datacenter: c.Datacenter, Name: c.Name, HTTPAddr: c.HTTPAddr,
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
	maps.Copy(self.Attributes, artifact.Fingerprint())
	if n.dirs != nil {
		self.Attributes["secrets.storage"] = n.dirs.SecretStorage()
	}
	for k, v := range c.Attributes {
		self.Attributes[k] = v
	}
	maps.Copy(self.Attributes, n.plugins)
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
	n.networks.describe(ctx, self)
	self.ComputedClass = api.ComputeClass(self)
	return self
}
