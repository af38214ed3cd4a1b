// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"time"
	_ "time/tzdata" // schedules name time zones, and machines may have none

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/backup"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/server/worker"
)

// Config says how a server runs. Zero fields get the defaults named here.
type Config struct {
	DataDir string // "" keeps everything in memory, for tests and simulations
	Name    string // "server"
	Region  string // "global"
	Version string // of Reeve, for snapshots and the list of servers
	// Member is the server's part in a cluster; nil: it runs alone, without certificates.
	Member *Member
	// Addr is where its HTTP API is reached, as host:port: what Leader answers.
	Addr string
	// ServerID is the id of a server with a new data directory; "": a random one.
	ServerID string
	// Guard seals the key of a server that runs alone; nil: its file has it in clear.
	Guard Guard
	// Transport connects the servers of a cluster, see replica.NewTransport; nil: this is the
	// only server. The server closes it.
	Transport raft.Transport
	// Bootstrap has a server with a transport and a new data directory begin a cluster.
	// Otherwise it waits until a leader adds it.
	Bootstrap bool
	// Servers has the server begin a cluster with several voters instead.
	Servers []raft.Server
	// ElectionTimeout is the silence of a leader after which another one is elected (1 s).
	ElectionTimeout time.Duration
	Logger          *slog.Logger
	// Workers is the number of concurrent evaluations (16 per processor); negative: none. They
	// mostly wait for the disk, and concurrent ones share log entries.
	Workers int
	// JobTypes are the types of jobs whose evaluations the workers process (all).
	JobTypes []string
	// CallLeader sends a request to a route of the leader for servers, and returns the body of the
	// response; nil: the workers of this server work only while it leads.
	CallLeader     func(ctx context.Context, path string, body []byte) ([]byte, error)
	HeartbeatTTL   time.Duration      // a node reports at least this often (10 s)
	HeartbeatGrace time.Duration      // and is down when it is this late (4 s)
	MassLoss       control.MassLoss   // control.DefaultMassLoss
	GC             control.Thresholds // control.DefaultThresholds
	SweepInterval  time.Duration      // between two sweeps of stacks: control.SweepInterval
	// Zone is the domain of the names of stacks, as in the configuration of routers ("reeve").
	Zone string
	// LoopbackStacks allows loopback addresses of stacks outside of Reeve, for development on one machine.
	LoopbackStacks bool
	// OIDCIssuer is the address under which others find the keys that verify identities of tasks; "": none.
	OIDCIssuer string
	// Backup is the schedule of snapshots; the zero value: none.
	Backup backup.Config
	// Broken is called, once, when a sync of the log failed: the process is to
	// end. It must not block.
	Broken func(error)
	// CallbackTransport makes the requests of callbacks; for tests.
	CallbackTransport http.RoundTripper
	// GateTransport asks the addresses of shifts' checks; for tests.
	GateTransport http.RoundTripper
}

func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = "server"
	}
	if c.Region == "" {
		c.Region = "global"
	}
	if c.Zone == "" {
		c.Zone = "reeve"
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if len(c.JobTypes) == 0 {
		c.JobTypes = worker.JobTypes[:]
	}
	if c.Workers == 0 {
		c.Workers = 16 * runtime.GOMAXPROCS(0)
	}
	if c.HeartbeatTTL <= 0 {
		c.HeartbeatTTL = 10 * time.Second
	}
	if c.HeartbeatGrace <= 0 {
		c.HeartbeatGrace = 4 * time.Second
	}
	if c.MassLoss == (control.MassLoss{}) {
		c.MassLoss = control.DefaultMassLoss
	}
	if c.SweepInterval <= 0 {
		c.SweepInterval = control.SweepInterval
	}
	if c.GC == (control.Thresholds{}) {
		c.GC = control.DefaultThresholds
	}
	return c
}
