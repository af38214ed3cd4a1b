// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/coalesce"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/server/replica/snapshots"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
	"github.com/reeve-run/reeve/internal/state"
)

// DefaultElectionTimeout is longer than a process usually waits for a processor, or for its collector.
const DefaultElectionTimeout = time.Second

// Config configures the directory and the log of a replica. Zero values mean the
// defaults.
type Config struct {
	Dir    string       // the server's data directory; made if it does not exist
	Store  *state.Store // is filled from the directory
	Logger *slog.Logger // nil: none
	FS     disk.FS      // that log and snapshots are on; disk.OS
	// Broken is called, once, when a sync has failed: the content of the disk is unknown, and
	// the process must end. It must not block.
	Broken func(error)

	SegmentBytes    int64  // size of a log file; 16 MB
	SnapshotEntries uint64 // a snapshot is taken after so many entries; 65,536
	SnapshotBytes   int64  // or so many bytes; 64 MB
	TrailingEntries uint64 // entries kept behind a snapshot; 1,024

	// ServerID is the id of a new directory's server. "": a random one. An existing directory
	// must belong to it.
	ServerID string
	// Transport connects the servers, see NewTransport. Nil: this is the only server, ever.
	Transport raft.Transport
	// Bootstrap has a new directory begin a cluster with this server as the only voter.
	// Without it, a server with a transport waits until a leader adds it.
	Bootstrap bool
	// Servers has a new directory begin a cluster with several voters.
	Servers []raft.Server
	// ElectionTimeout is the silence of the leader after which followers elect another one,
	// within twice that time. DefaultElectionTimeout.
	ElectionTimeout time.Duration
}

// Replica is one server's replica of the log.
type Replica struct {
	config  Config
	logger  *slog.Logger
	dir     *directory
	log     *wal.Log
	stable  *wal.Stable
	disk    *pulse
	machine *machine
	raft    *raft.Raft
	// transport is what raft uses, and inbox is its part that receives; nil for a server alone.
	transport raft.Transport
	inbox     *inbox

	proposals chan *proposal
	leading   atomic.Bool   // leader, and everything before is applied
	reign     atomic.Uint64 // number of the leadership; see Reign
	term      atomic.Uint64 // raft's term of the leadership
	reads     *coalesce.Group[uint64]
	electedAt atomic.Pointer[time.Time] // nil: never
	contacts  contacts
	opened    time.Time
	removed   atomic.Bool // reports whether another server said so
	leaderCh  chan uint64
	notify    chan bool
	stop      chan struct{} // closed when Close begins
	answered  chan struct{} // closed when everybody has got an answer who ever will
	stopped   sync.Once
	breaks    sync.Once
	running   sync.WaitGroup
	resigning atomic.Bool
	counters  counters
	images    *snapshots.Store
}

// Open opens the directory, or begins it, and fills the store with its newest snapshot. The rest of the log is applied
// once the server leads: see LeaderCh and Barrier.
func Open(config Config) (*Replica, error) {
	config = config.withDefaults()
	r := &Replica{
		config:    config,
		logger:    config.Logger,
		proposals: make(chan *proposal, 1024),
		leaderCh:  make(chan uint64, 1),
		opened:    time.Now(),
		notify:    make(chan bool, 8),
		stop:      make(chan struct{}),
		answered:  make(chan struct{}),
		disk:      newPulse(),
	}
	r.reads = coalesce.New(r.confirm)
	if err := r.open(); err != nil {
		r.release()
		return nil, err
	}
	r.running.Add(4)
	go r.pack()
	go r.followDisk()
	go r.followLeadership()
	go r.compact()
	return r, nil
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.FS == nil {
		c.FS = disk.OS
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = 16 << 20
	}
	if c.SnapshotEntries == 0 {
		c.SnapshotEntries = 1 << 16
	}
	if c.SnapshotBytes == 0 {
		c.SnapshotBytes = 64 << 20
	}
	if c.TrailingEntries == 0 {
		c.TrailingEntries = 1024
	}
	if c.ElectionTimeout == 0 {
		c.ElectionTimeout = DefaultElectionTimeout
	}
	return c
}

func (r *Replica) startRaft(logger hclog.Logger, snapshots raft.SnapshotStore) error {
	id := raft.ServerID(r.dir.meta.ServerID)
	c := raft.DefaultConfig()
	c.LocalID = id
	c.Logger = logger
	c.BatchApplyCh = true
	c.MaxAppendEntries = maxBatch
	c.TrailingLogs = r.config.TrailingEntries
	c.SnapshotThreshold = 1 << 62 // ours is in compact
	c.SnapshotInterval = time.Hour
	c.NoSnapshotRestoreOnStart = true // load did
	c.NotifyCh = r.notify
	c.NoLegacyTelemetry = true
	transport, alone := r.config.Transport, r.config.Transport == nil
	if alone {
		_, transport = raft.NewInmemTransport(raft.ServerAddress(id))
	} else {
		peers, _ := transport.(lossy)
		r.inbox = newInbox(transport.Consumer(), func(q *raft.RequestPreVoteRequest) bool { return peers != nil && r.agrees(peers, q) })
		transport = hold(transport, r.disk, &r.contacts, &r.machine.notices, r.inbox)
	}
	r.transport = transport
	timeout := r.config.ElectionTimeout
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = timeout, timeout, timeout

	if alone || r.config.Bootstrap || len(r.config.Servers) > 0 {
		if err := r.begin(c, snapshots, transport); err != nil {
			return err
		}
	}
	var err error
	r.raft, err = raft.NewRaft(c, r.machine, stamped{r.log, r.machine}, &votes{r.stable, r.stop, r.logger}, snapshots, transport)
	if err != nil {
		return fmt.Errorf("start replica: %w", err)
	}
	r.countElections()
	r.succession()
	return r.hasten()
}

// begin writes the first configuration of a new cluster, unless the log has entries.
func (r *Replica) begin(c *raft.Config, snapshots raft.SnapshotStore, transport raft.Transport) error {
	if err := r.beginAnew(snapshots); err != nil {
		return err
	}
	existing, err := raft.HasExistingState(r.log, r.stable, snapshots)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if existing {
		return nil
	}
	servers := raft.Configuration{Servers: r.config.Servers}
	if len(servers.Servers) == 0 {
		servers.Servers = []raft.Server{{ID: c.LocalID, Address: transport.LocalAddr()}}
	}
	if err := raft.BootstrapCluster(c, r.log, r.stable, snapshots, transport, servers); err != nil {
		return fmt.Errorf("begin log: %w", err)
	}
	return nil
}

// hasten starts an election at once if this server is the only voter: there is no leader to
// wait for. Raft looks for one when its timeout is reduced.
func (r *Replica) hasten() error {
	if r.hasOthers() || r.IsEmpty() {
		return nil
	}
	c := r.raft.ReloadableConfig()
	for _, timeout := range []time.Duration{2 * r.config.ElectionTimeout, r.config.ElectionTimeout} {
		c.HeartbeatTimeout, c.ElectionTimeout = timeout, timeout
		if err := r.raft.ReloadConfig(c); err != nil {
			return fmt.Errorf("set election timeouts: %w", err)
		}
	}
	return nil
}

// beginAnew forgets the term of an interrupted beginning: the crash preceded the log's
// first entry, and so any vote.
func (r *Replica) beginAnew(snapshots raft.SnapshotStore) error {
	last, _ := r.log.LastIndex()
	voted, err := r.stable.GetUint64([]byte("LastVoteTerm"))
	if err != nil || voted != 0 || last != 0 {
		return err
	}
	if list, err := snapshots.List(); err != nil || len(list) > 0 {
		return err
	}
	return r.stable.SetUint64([]byte("CurrentTerm"), 0)
}

// snapshotRetry is the delay before a failed snapshot is retried.
const snapshotRetry = 30 * time.Second

// Bounds of the interval in which compact looks at the log. It begins with the short one,
// so that a server that is killed every second still shortens its log.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = time.Second
)

// compact takes a snapshot when the log has grown enough, or was long when the server
// started.
func (r *Replica) compact() {
	defer r.running.Done()
	interval := firstLook
	last := r.snapshotIndex()
	for {
		select {
		case <-r.stop:
			return
		case <-time.After(interval):
		}
		interval = min(2*interval, lastLook)
		if r.machine.replays() {
			continue
		}
		// The cost of a snapshot is proportional to the size of the state: wait until the
		// log has grown by that size.
		if r.raft.AppliedIndex()-last < r.config.SnapshotEntries && r.machine.bytes.Load() < max(r.config.SnapshotBytes, r.machine.size.Load()) {
			continue
		}
		if err := r.Snapshot(); err != nil {
			r.logger.Warn("snapshot failed: the log keeps growing", "error", err, "next_attempt", snapshotRetry)
			select {
			case <-r.stop:
				return
			case <-time.After(snapshotRetry):
			}
		}
		last = max(last, r.snapshotIndex())
	}
}

// Snapshot writes the state to the disk now and drops the log before it.
func (r *Replica) Snapshot() error {
	err := r.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	if err != nil {
		return r.explain(fmt.Errorf("take snapshot: %w", err))
	}
	r.counters.snapshots.Add(1)
	return nil
}

// closeTimeout bounds the time that Close waits for entries in flight, and transferTimeout
// the time that it waits until another server leads.
const (
	closeTimeout    = 5 * time.Second
	transferTimeout = 2 * time.Second
)

// Close stops the replica and releases the directory, which contains all acknowledged
// entries. A leader first transfers leadership to another voter, so that the others need
// not wait for an election.
func (r *Replica) Close() error {
	var err error
	r.stopped.Do(func() {
		close(r.stop)
		// Raft answers entries in flight only while it runs.
		idle := make(chan struct{})
		go func() {
			r.running.Wait()
			close(idle)
		}()
		select {
		case <-idle:
		case <-time.After(closeTimeout):
			r.logger.Warn("closing the log did not wait for all changes in flight", "waited", closeTimeout)
		}
		r.HandOver()
		close(r.answered)
		err = errors.Join(r.raft.Shutdown().Error(), r.release())
	})
	return err
}

// HandOver transfers leadership before the end, if this server leads and others vote.
func (r *Replica) HandOver() {
	if r.raft.State() != raft.Leader || r.disk.hangs() || !r.hasOthers() {
		return
	}
	done := make(chan error, 1)
	go func() { done <- r.raft.LeadershipTransfer().Error() }() // ends with raft at the latest
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, raft.ErrNotLeader) {
			r.logger.Warn("cannot transfer leadership before the end: the other servers elect a leader", "error", err)
		}
	case <-time.After(transferTimeout):
		r.logger.Warn("cannot transfer leadership before the end: the other servers elect a leader", "waited", transferTimeout)
	}
}

// release closes the log, the stable store and the directory.
func (r *Replica) release() error {
	if r.inbox != nil {
		close(r.inbox.end)
	}
	var errs []error
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	if r.stable != nil {
		errs = append(errs, r.stable.Close())
	}
	if r.dir != nil {
		r.dir.close()
	}
	return errors.Join(errs...)
}

// ServerID returns this server's id among the replicas.
func (r *Replica) ServerID() string { return r.dir.meta.ServerID }

// Dir returns the data directory.
func (r *Replica) Dir() string { return r.config.Dir }
