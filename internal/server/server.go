// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/server/backup"
	"github.com/reeve-run/reeve/internal/server/catalog"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// A Server holds the state of a cluster and, while it leads, acts on it.
type Server struct {
	cfg         Config
	store       *state.Store
	journal     journal
	replica     *replica.Replica // the journal; nil if that is a memoryJournal
	heartbeats  *control.Heartbeats
	streams     *streams
	prefetches  *prefetches
	catalog     *catalog.Catalog
	meters      meters
	reports     *gatherer[report]
	arrivals    *gatherer[state.Command]
	returning   sync.Map // ids of nodes whose return is being written
	reportOrder reportOrder
	refusals    refusals
	rights      rightsCache
	keyring     keyringCache
	identities  identityCache
	locks       *control.Locks // of variables
	writers     writers        // of variables
	providers   providers
	term        atomic.Pointer[term] // nil while another server leads

	backups *backup.Schedule
	own     struct { // key of a server that runs alone
		sync.Mutex
		key []byte
	}

	admission    sync.Mutex  // held while a server is admitted, and while the feature level rises
	leveled      atomic.Bool // the state has the newest feature level
	restoring    sync.Mutex  // held during a restore
	restorations chan restoration

	stop    context.CancelFunc // of what runs in any case
	running sync.WaitGroup
}

// New opens the server's data directory. Start makes it act.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, store: state.New(), streams: newStreams(), prefetches: newPrefetches(), catalog: catalog.New(), restorations: make(chan restoration), locks: control.NewLocks(), writers: newWriters(),
		heartbeats: control.NewHeartbeats(control.Silence{TTL: cfg.HeartbeatTTL, Grace: cfg.HeartbeatGrace, MassLoss: cfg.MassLoss}),
	}
	s.reports, s.arrivals = newGatherer(s.writeReports), newGatherer(s.writeArrivals)
	s.arrivals.linger = arrivalsLinger
	if cfg.DataDir == "" {
		s.journal = &memoryJournal{store: s.store}
		s.backups = s.newBackups()
		return s, nil
	}
	var err error
	s.replica, err = replica.Open(replica.Config{
		Dir: cfg.DataDir, Store: s.store, Logger: cfg.Logger, Broken: cfg.Broken,
		ServerID: cfg.ServerID, Transport: cfg.Transport, Bootstrap: cfg.Bootstrap, Servers: cfg.Servers, ElectionTimeout: cfg.ElectionTimeout,
	})
	if err != nil {
		return nil, err
	}
	s.journal = s.replica
	s.backups = s.newBackups()
	return s, nil
}

// patience is how long Start waits for leadership.
const patience = 10 * time.Second

// Start runs the server until Shutdown. It returns when this server or another one leads; or,
// as reads are answered without, when it knows that it cannot be written to, or has
// waited for long; or when ctx ends.
func (s *Server) Start(ctx context.Context) error {
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	led := make(chan struct{})
	ready := sync.OnceFunc(func() { close(led) })
	s.running.Go(func() { s.streams.run(background, s.store) })
	s.running.Go(func() { s.prefetches.follow(background, s.store) })
	s.running.Go(func() { s.prefetches.run(background, s.store, s.streams.addPrefetches) })
	s.running.Go(func() { _ = s.catalog.Run(background, s.store) })
	s.running.Go(func() { s.reports.run(background) })
	s.running.Go(func() { s.arrivals.run(background) })
	s.running.Go(func() { s.followLeadership(background, ready) })
	if !s.cfg.Backup.LeaderOnly {
		s.running.Go(func() {
			select {
			case <-led:
				s.backups.Run(background)
			case <-background.Done():
			}
		})
	}
	if s.cfg.Transport != nil {
		s.running.Go(func() {
			if s.replica.AwaitOther(background) == nil {
				ready()
			}
		})
	}
	select {
	case <-led:
		return nil
	case <-s.journal.Troubled():
		why, _ := s.journal.Degraded()
		s.cfg.Logger.Warn("the server answers reads, and refuses changes for now", "why", why)
		return nil
	case <-time.After(patience):
		s.cfg.Logger.Warn("the server answers reads, and refuses changes until there is a leader", "waited", patience)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HandOver transfers leadership to another server, if this one leads and others vote. Call it
// before the end, while the server still answers.
func (s *Server) HandOver() {
	if s.replica != nil {
		s.replica.HandOver()
	}
}

// Shutdown stops the server and closes its log. Acknowledged changes are durable.
func (s *Server) Shutdown(context.Context) error {
	if s.stop != nil {
		s.stop()
	}
	s.running.Wait()
	return s.journal.Close()
}

// Store is the server's state, for reading.
func (s *Server) Store() *state.Store { return s.store }

// Catalog is the live picture of what traffic may go to.
func (s *Server) Catalog() *catalog.Catalog { return s.catalog }

// Replica is the server's part in the replicated log; nil for a server without
// a data directory.
func (s *Server) Replica() *replica.Replica { return s.replica }

// IsLeader reports whether this server acts on the state.
func (s *Server) IsLeader() bool { return s.term.Load() != nil }

// Degraded says in words why this server does less than it should, "" if it does
// not; and whether it can be written to all the same.
func (s *Server) Degraded() (why string, writable bool) { return s.journal.Degraded() }

// Leader is the address of the leader's HTTP API; "" while none is known, or while this
// server was elected and does not act yet.
func (s *Server) Leader() string {
	if s.IsLeader() {
		return s.cfg.Addr
	}
	if s.cfg.Transport == nil || s.replica == nil {
		return ""
	}
	id, address := s.replica.LeaderAddr()
	if id == s.replica.ServerID() {
		return ""
	}
	return address
}
