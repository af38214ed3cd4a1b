// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// Options are options of a run.
type Options struct {
	Binary   string    // Reeve's executable, for the scenario's own server
	Address  string    // address of an existing server; "": start one
	KeepData string    // directory for the server's data, which is kept; "": a temporary one
	Progress io.Writer // receives a description of the progress; nil: none
	Detached bool      // nodes only register and send heartbeats, and run no allocations
	Links    int       // nodes per TLS connection, which takes servers with the build tag simfleet; 0: nodes use HTTP

	token string // of requests; "": none
}

// nodesPerConnection is the number of simulated nodes per connection.
const nodesPerConnection = 200

// Numbers of concurrent registrations of nodes and of jobs.
const (
	registering = 64
	submitting  = 16
)

// registeringConnections is the number of HTTP connections that nodes with links share to register.
const registeringConnections = 4

// collectAt is the share of garbage, in percent, at which the collector runs: the server needs the
// memory more than the simulation needs the processor.
const collectAt = 40

// A run is one run of a scenario.
type run struct {
	scenario *Scenario
	options  Options
	server   *server // nil unless the run started it
	client   *client.Client
	clients  []*client.Client
	nodes    []*node
	member   *membership // nil: nodes use HTTP
	trunks   []*trunk
	decoded  decodedJobs
	position map[string]int // indexes of nodes, by id
	jobs     map[string]*job
	order    []*job
	ttl      time.Duration
	began    time.Time // start of the scenario's clock
	report   *Report

	cpuBefore    time.Duration // of the server, at the first job's registration
	placedMemory int64         // of the server, when all instances were placed
	quietReport  QuietReport

	// Counters of the nodes.
	placed, running                              atomic.Int64
	lastPlaced, lastRunning                      atomic.Int64 // Unix nanoseconds
	messages, heartbeats, reports, registrations atomic.Int64
	failures                                     atomic.Int64
	used                                         [dimensions]atomic.Int64
	peak                                         [dimensions]int64

	busy    atomic.Int64 // number of appointments that the run waits for
	anyLost atomic.Bool
	mu      sync.Mutex
	foreign map[string]*job      // jobs outside of the scenario, by id
	lost    map[string]bool      // allocations of disconnected nodes
	missed  map[string]time.Time // times since when no node runs an instance, by job and name
	failure error                // the first failed request
}

// Run plays a scenario to its end. If ctx ends it early, the report holds the measurements
// until then.
func Run(ctx context.Context, s *Scenario, o Options) (*Report, error) {
	r := &run{scenario: s, options: o, jobs: map[string]*job{}, position: map[string]int{}, lost: map[string]bool{}, missed: map[string]time.Time{}, report: &Report{Scenario: s.Name, Seed: s.Seed}, decoded: decodedJobs{seed: maphash.MakeSeed()}}
	if o.Detached && s.Stacks != nil {
		return nil, api.Errorf(api.CodeInvalid, "detached nodes run no stacks: remove -detached, or remove stacks from the scenario")
	}
	if o.Detached && o.Links > 0 {
		return nil, api.Errorf(api.CodeInvalid, "nodes with links receive their allocations: remove -detached or -links")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	if err := r.prepareJobs(); err != nil {
		return nil, err
	}
	defer r.closeClients()
	if o.Address == "" {
		server, err := startServer(ctx, s.Server, o)
		if err != nil {
			return nil, err
		}
		r.server = server
		defer server.stop()
	}
	if err := r.dial(ctx); err != nil {
		return nil, r.explain(err)
	}
	if err := r.play(ctx); err != nil {
		return nil, r.explain(err)
	}
	return r.report, nil
}

// explain adds the last lines of the server's log to an error.
func (r *run) explain(err error) error {
	if r.server == nil || api.CodeOf(err) == api.CodeForbidden {
		return err
	}
	if last := r.server.lastWords(); last != "" {
		return fmt.Errorf("%w; the server's log ends with:\n%s", err, last)
	}
	return err
}

// dial opens the connections one after the other: concurrent requests without a connection
// would each open one.
func (r *run) dial(ctx context.Context) error {
	address := r.options.Address
	if r.server != nil {
		address = r.server.address
	}
	fleet := r.scenario.fleet()
	connections := 1 + (len(fleet)+nodesPerConnection-1)/nodesPerConnection // the first is for requests that do not belong to nodes
	if r.options.Links > 0 {
		connections = 1 + registeringConnections
	}
	for range connections {
		c, err := client.New(client.Config{Address: address, Token: r.options.token, Multiplex: true})
		if err != nil {
			return err
		}
		r.clients = append(r.clients, c)
		if _, err := c.Status().Leader(ctx); err != nil {
			return err
		}
	}
	r.client = r.clients[0]
	for i, self := range fleet {
		r.position[self.ID] = i
		r.nodes = append(r.nodes, newNode(r, self, r.clients[1+i*(connections-1)/len(fleet)], i))
	}
	if r.options.Links == 0 {
		return nil
	}
	var err error
	if r.member, err = r.enter(ctx); err != nil {
		return fmt.Errorf("connect the nodes by links: %w", err)
	}
	return r.member.probe(ctx)
}

func (r *run) closeClients() {
	if r.member != nil {
		r.member.leave()
	}
	for _, c := range r.clients {
		c.Close()
	}
}

// play registers the nodes, starts them, submits the jobs, executes the events, and waits
// until the cluster is settled.
func (r *run) play(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := r.configure(ctx); err != nil {
		return err
	}
	var living sync.WaitGroup
	defer living.Wait()
	defer stop()
	live := func(n *node) { living.Go(func() { n.loop(ctx) }) }
	if r.member != nil {
		// A large fleet takes longer to register than a node may be silent.
		if err := r.registerFirst(ctx); err != nil {
			return err
		}
		r.openTrunks()
		for _, t := range r.trunks {
			living.Go(func() { t.serve(ctx) })
		}
		if err := r.registerNodes(ctx, live); err != nil {
			return err
		}
	} else {
		if err := r.registerNodes(ctx, func(*node) {}); err != nil {
			return err
		}
		for _, n := range r.nodes {
			live(n)
		}
	}
	r.began = time.Now()
	if r.server != nil {
		r.cpuBefore = r.server.cpuTime()
	}
	acting, cancel := context.WithTimeout(ctx, r.scenario.Limit)
	defer cancel()
	var acts sync.WaitGroup
	failed := make(chan error, 3)
	acts.Go(func() { failed <- r.submit(acting) })
	acts.Go(func() { failed <- r.happen(acting) })
	acts.Go(func() { failed <- r.playStacks(acting) })
	done := make(chan error, 1)
	go func() {
		acts.Wait()
		done <- errors.Join(<-failed, <-failed, <-failed)
	}()
	err := r.watch(acting, done)
	cancel()
	acts.Wait()
	if err != nil {
		return err
	}
	if err := r.rest(ctx); err != nil {
		return err
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	stop()
	living.Wait()
	r.measure()
	return nil
}

// configure sets the scheduler's configuration if the scenario has one. It does not change a
// server that the run did not start.
func (r *run) configure(ctx context.Context) error {
	s := r.scenario.Server
	if r.server == nil || s.Algorithm == "" && s.Zone == "" && s.Preempt == nil && s.Starting == 0 {
		return nil
	}
	config := api.DefaultSchedulerConfig()
	fallback(&s.Algorithm, config.Algorithm)
	config.Algorithm, config.ZoneAttribute, config.MaxStartingPerNode = s.Algorithm, s.Zone, s.Starting
	if s.Preempt != nil {
		config.Preemption = api.PreemptionConfig{
			SystemSchedulerEnabled:   slices.Contains(s.Preempt, api.JobTypeSystem),
			SysBatchSchedulerEnabled: slices.Contains(s.Preempt, api.JobTypeSysBatch),
			BatchSchedulerEnabled:    slices.Contains(s.Preempt, api.JobTypeBatch),
			ServiceSchedulerEnabled:  slices.Contains(s.Preempt, api.JobTypeService),
		}
	}
	if _, err := r.client.Operator().SetSchedulerConfig(ctx, config, nil); err != nil {
		return fmt.Errorf("configure the scheduler: %w", err)
	}
	return nil
}

// registerFirst registers one node, and learns the time between heartbeats.
func (r *run) registerFirst(ctx context.Context) error {
	if len(r.nodes) == 0 {
		return nil
	}
	answer, err := r.nodes[0].nodes.Register(ctx, r.nodes[0].self)
	if err != nil {
		return fmt.Errorf("register node %s: %w", r.nodes[0].self.Name, err)
	}
	r.ttl = answer.HeartbeatTTL
	return nil
}

// registerNodes registers all nodes, and calls registered for each one.
func (r *run) registerNodes(ctx context.Context, registered func(*node)) error {
	began := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, registering)
	ttl := make([]time.Duration, registering)
	for worker := range registering {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(r.nodes) || ctx.Err() != nil {
					return
				}
				answer, err := r.nodes[i].nodes.Register(ctx, r.nodes[i].self)
				if err != nil {
					errs[worker] = fmt.Errorf("register node %s: %w", r.nodes[i].self.Name, err)
					return
				}
				ttl[worker] = answer.HeartbeatTTL
				registered(r.nodes[i])
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if r.member == nil {
		r.ttl = slices.Max(ttl)
	}
	took := time.Since(began)
	r.report.Nodes = NodesReport{Registered: len(r.nodes), Took: took, PerSecond: perSecond(len(r.nodes), took)}
	r.tell("registered %d nodes in %s", len(r.nodes), short(took))
	return nil
}

// count records the outcome of a node's request.
func (r *run) count(kind *atomic.Int64, err error, ctx context.Context) {
	if kind != nil {
		kind.Add(1)
	}
	if err != nil && ctx.Err() == nil {
		r.failed(err)
	}
}

// failed records a failed request.
func (r *run) failed(err error) {
	r.failures.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}

// awaits reports whether the run waits for an action of an instance.
func (r *run) awaits(inst *instance, what int32) bool {
	return !inst.job.foreign && (what != doEnd || r.scenario.Until == untilDone && inst.group.behaviour.batch)
}

// touch records the newest time.
func (r *run) touch(last *atomic.Int64, now time.Time) {
	for nanos := now.UnixNano(); ; {
		old := last.Load()
		if old >= nanos || last.CompareAndSwap(old, nanos) {
			return
		}
	}
}

// lose records that allocations are unreachable.
func (r *run) lose(instances map[string]*instance, now time.Time) {
	r.anyLost.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, inst := range instances {
		if inst.ended != 0 || inst.stopping {
			continue
		}
		r.lost[id] = true
		if name := inst.instanceName(); r.missed[name].IsZero() {
			r.missed[name] = now
		}
	}
}

// found records that an instance is on a node. since is the time without an allocation. A lost
// allocation that returns is not new.
func (r *run) found(inst *instance, now time.Time) (since time.Duration, replaces, back bool) {
	if !r.anyLost.Load() {
		return 0, false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := inst.instanceName()
	at, missed := r.missed[name]
	delete(r.missed, name)
	return now.Sub(at), missed && !r.lost[inst.id], r.lost[inst.id]
}

func (r *run) tell(format string, args ...any) {
	if r.options.Progress != nil {
		fmt.Fprintf(r.options.Progress, format+"\n", args...)
	}
}

// rng returns a separate random source for each purpose.
func (r *run) rng(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(r.scenario.Seed, 1<<40+purpose))
}
