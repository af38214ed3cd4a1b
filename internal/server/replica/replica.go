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

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
	"github.com/reeve-run/reeve/internal/state"
)

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

	// With several servers: this server's id, the transport, and the servers at the
	// beginning of the cluster. Nil: a single server.
	ServerID        string
	Transport       raft.Transport
	Servers         []raft.Server
	ElectionTimeout time.Duration // 1 s
}

// Timing of elections. A single server becomes leader after one to two timeouts.
const aloneTimeout = 10 * time.Millisecond

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

	proposals chan *proposal
	leading   atomic.Bool // leader, and everything before is applied
	leaderCh  chan bool
	notify    chan bool
	stop      chan struct{} // closed when Close begins
	answered  chan struct{} // closed when everybody has got an answer who ever will
	stopped   sync.Once
	breaks    sync.Once
	running   sync.WaitGroup
	resigning atomic.Bool
	counters  counters
}

// Open opens the directory, or begins it with this server as the only voter,
// and fills the store with its newest snapshot. The rest of the log is applied
// once the server leads: see LeaderCh and Barrier.
func Open(config Config) (*Replica, error) {
	config = config.withDefaults()
	r := &Replica{
		config:    config,
		logger:    config.Logger,
		proposals: make(chan *proposal, 1024),
		leaderCh:  make(chan bool, 1),
		notify:    make(chan bool, 8),
		stop:      make(chan struct{}),
		answered:  make(chan struct{}),
		disk:      newPulse(),
	}
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
		c.ElectionTimeout = time.Second
	}
	return c
}

func (r *Replica) startRaft(logger hclog.Logger, snapshots raft.SnapshotStore) error {
	id := raft.ServerID(r.dir.meta.ServerID)
	c := raft.DefaultConfig()
	c.LocalID = id
	c.Logger = logger
	c.BatchApplyCh = true
	c.MaxAppendEntries = 512
	c.TrailingLogs = r.config.TrailingEntries
	c.SnapshotThreshold = 1 << 62 // ours is in compact
	c.SnapshotInterval = time.Hour
	c.NoSnapshotRestoreOnStart = true // load did
	c.NotifyCh = r.notify
	c.NoLegacyTelemetry = true
	timeout := r.config.ElectionTimeout
	transport := r.config.Transport
	if transport == nil {
		timeout = aloneTimeout
		_, transport = raft.NewInmemTransport(raft.ServerAddress(id))
	} else {
		transport = hold(transport, r.disk)
	}
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = timeout, timeout, timeout

	if err := r.beginAnew(snapshots); err != nil {
		return err
	}
	existing, err := raft.HasExistingState(r.log, r.stable, snapshots)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if !existing {
		servers := raft.Configuration{Servers: r.config.Servers}
		if len(servers.Servers) == 0 {
			servers.Servers = []raft.Server{{ID: id, Address: transport.LocalAddr()}}
		}
		if err := raft.BootstrapCluster(c, r.log, r.stable, snapshots, transport, servers); err != nil {
			return fmt.Errorf("begin log: %w", err)
		}
	}
	r.raft, err = raft.NewRaft(c, r.machine, r.log, r.stable, snapshots, transport)
	if err != nil {
		return fmt.Errorf("start replica: %w", err)
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

// compact takes a snapshot when the log has grown enough.
func (r *Replica) compact() {
	defer r.running.Done()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := r.snapshotIndex()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
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

// closeTimeout bounds the time that Close waits for entries in flight.
const closeTimeout = 5 * time.Second

// Close stops the replica and releases the directory, which contains all acknowledged
// entries.
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
		close(r.answered)
		err = errors.Join(r.raft.Shutdown().Error(), r.release())
	})
	return err
}

// release closes the log, the stable store and the directory.
func (r *Replica) release() error {
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
