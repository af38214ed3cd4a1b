// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package agent assembles one process: a server, a node, or both, behind one HTTP listener. It
// decides which parts start, with which parameters and in which order, and the order of their
// stop.
//
// A node talks to its servers over their HTTP API even if both are in one process: the public
// API is the only interface.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/auditsink"
	"github.com/reeve-run/reeve/internal/dialect/nelson"
	"github.com/reeve-run/reeve/internal/dialect/sdk"
	"github.com/reeve-run/reeve/internal/dns"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/founding"
	"github.com/reeve-run/reeve/internal/httpapi"
	"github.com/reeve-run/reeve/internal/kms"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/nodelink"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/port"
	"github.com/reeve-run/reeve/internal/relay"
	"github.com/reeve-run/reeve/internal/router"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/gcpace"
	"github.com/reeve-run/reeve/internal/trust"
	"github.com/reeve-run/reeve/internal/ui"
)

// An Agent is one running process of Reeve.
type Agent struct {
	config Config
	named  bool // reports whether the configuration names the machine
	log    *slog.Logger
	tail   logTail // end of the log
	lock   *os.File
	port   *port.Port
	trust  trust.Identity // nil: the agent runs alone, without certificates
	// store is the identity that the cluster's authority signed, and external the one from files:
	// one of them is trust.
	store    *trust.Store
	external *trust.External
	// agreement decides with the servers of bootstrap_expect who founds the cluster, and founders
	// are the first voters if it is this server.
	agreement *founding.Agreement
	founders  []raft.Server
	announced atomic.Int64 // end of the certificate that the leader knows: Unix time in nanoseconds
	handler   *httpapi.Handler
	http      *http.Server
	tasks     *http.Server // of the sockets of tasks
	server    *server.Server
	node      *node.Node
	router    *router.Router
	dns       *dns.Server
	names     *bridgeNames
	guard     *kms.Guard    // of the keys of this server
	audit     *auditlog.Log // nil: the agent keeps no records of requests
	sinks     []*auditsink.Sink
	client    *client.Client
	links     *nodelink.Server // connections of nodes; nil without a server or certificates
	members   *http.Transport  // of requests to other members; nil without certificates
	relay     *relay.Client    // of writes to the leader; nil without a server or certificates

	advertise string // host:port at which other members reach this agent; "" without certificates

	supervisor *supervise.Client
	containers *container.Driver
	docker     *docker.Driver // nil: the node has no such driver
	door       *door.Door
	endPace    func()     // ends the pace of garbage collection; nil if it has its default
	broken     chan error // errors that must end the process, such as a failed disk of the log
}

// New checks the configuration, locks the data directory, listens on the address, joins the
// cluster if necessary, and prepares the parts that Run starts. On failure it releases
// everything. The context bounds the attempts to join.
func New(ctx context.Context, config Config) (*Agent, error) {
	named := config.Name != ""
	if err := config.Validate(); err != nil {
		return nil, err
	}
	a := &Agent{config: config, named: named, broken: make(chan error, 1)}
	a.names = newBridgeNames(a)
	a.log = withTail(config.logger(), &a.tail)
	if config.Logger == nil {
		logLibraries(a.log.Handler())
	}
	if config.Server.Enabled && os.Getenv("GOGC") == "" {
		a.endPace = gcpace.Bound()
	}
	if err := a.open(ctx); err != nil {
		if a.server != nil {
			err = errors.Join(err, a.server.Shutdown(context.Background()))
		}
		a.release()
		return nil, err
	}
	return a, nil
}

func (a *Agent) open(ctx context.Context) (err error) {
	if a.lock, err = lockDir(a.config.DataDir); err != nil {
		return err
	}
	a.guard = kms.New(a.config.Keyring)
	if err = a.unsealing(ctx, a.openTrust); err != nil {
		return err
	}
	if err = a.listen(); err != nil {
		return err
	}
	if err = a.enter(ctx); err != nil {
		return err
	}
	if a.trust != nil {
		a.members = a.memberTransport()
	}
	if a.config.Server.Enabled {
		if err = a.openServer(); err != nil {
			return err
		}
		if a.trust != nil {
			a.links = a.newLinks()
			a.relay = a.newRelay()
		}
	}
	if err = a.openDoor(); err != nil {
		return err
	}
	if a.config.Client.Enabled || a.config.answersNames() || a.trust != nil {
		if err = a.connect(); err != nil {
			return err
		}
	}
	if a.config.answersNames() {
		if err = a.openDNS(); err != nil {
			return err
		}
	}
	if a.config.routes() {
		if err := a.openRouter(); err != nil {
			return err
		}
	}
	if a.config.Client.Enabled {
		if a.node, err = a.newNode(); err != nil {
			return err
		}
	}
	if err = a.openAudit(); err != nil {
		return err
	}
	a.handler = a.newHandler()
	a.http, a.tasks = httpapi.NewServer(a.handler, a.log), httpapi.NewTaskServer(a.handler, a.log)
	return nil
}

func (a *Agent) openServer() error {
	member, err := a.serverMember()
	if err != nil {
		return err
	}
	s := a.config.Server
	config := server.Config{
		DataDir: a.serverDir(), Guard: a.guard, Name: a.config.Name, Region: a.config.Region, Version: a.config.Version,
		Addr: cmp.Or(a.advertise, a.Addr()), Member: member, Logger: a.log, Workers: s.Workers, JobTypes: s.JobTypes, OIDCIssuer: s.OIDCIssuer, ElectionTimeout: s.ElectionTimeout,
		HeartbeatTTL: s.HeartbeatTTL, HeartbeatGrace: s.HeartbeatGrace, MassLoss: s.MassLoss, GC: s.thresholds(),
		SweepInterval: s.StackSweepInterval, Zone: a.config.DNS.Zone, LoopbackStacks: a.config.Dev, Backup: a.config.snapshots(), Broken: func(err error) { a.broken <- err },
	}
	var known atomic.Pointer[server.Server]
	if member != nil {
		config.ServerID, config.Bootstrap = member.ID, member.Founding != nil || a.external != nil && a.config.Bootstrap
		config.Servers = a.founders
		config.Transport = a.raftTransport(&known)
		config.CallLeader = a.leaderCalls(&known)
	}
	a.server, err = server.New(config)
	known.Store(a.server)
	if err == nil && a.agreement != nil && !a.server.Replica().IsEmpty() {
		a.agreement.Joined()
	}
	return err
}

// Addr returns the address of the agent's port, as host:port.
func (a *Agent) Addr() string { return a.port.Addr() }

// DataDir returns the data directory.
func (a *Agent) DataDir() string { return a.config.DataDir }

// Run serves until the context ends. Then it ends the active requests, including streams,
// stops the node without its tasks, and closes the server last, because the other parts use
// it. Tasks continue; see StopTasks.
func (a *Agent) Run(ctx context.Context) error {
	defer a.release()
	run, stop := context.WithCancel(context.WithoutCancel(ctx)) // the end begins with the hand-over of leadership
	defer stop()
	var wg sync.WaitGroup
	if a.server != nil {
		if a.trust != nil {
			wg.Go(func() { a.announce(run) }) // a server that moved hears of no leader before
		}
		if err := a.server.Start(ctx); err != nil {
			stop()
			wg.Wait()
			return errors.Join(err, a.server.Shutdown(context.Background()))
		}
	}
	a.http.BaseContext = func(net.Listener) context.Context { return run }
	a.tasks.BaseContext = a.http.BaseContext
	failed := make(chan error, 3)
	wg.Go(func() {
		if err := a.http.Serve(a.port.HTTP()); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve http: %w", err)
		}
	})
	if a.links != nil {
		wg.Go(func() { a.links.Run(run, a.port.Stream(nodeproto.Protocol)) })
	}
	if a.relay != nil {
		wg.Go(func() { relay.NewServer(a.handler, a.log).Run(run, a.relayed()) })
	}
	if a.containers != nil && a.node != nil {
		wg.Go(func() { a.containers.Keep(run, a.node) })
	}
	if a.docker != nil {
		wg.Go(func() { a.docker.Keep(run) })
	}
	if a.node != nil {
		wg.Go(func() {
			if err := a.node.Run(run); err != nil && run.Err() == nil {
				failed <- fmt.Errorf("run node: %w", err)
			}
		})
	}
	if a.router != nil {
		wg.Go(func() { a.router.Run(run) })
	}
	if a.trust != nil {
		if a.store != nil {
			a.store.Renewed = a.confirmRenewal
		} else {
			wg.Go(func() { a.reloadOnHangup(run) })
		}
		wg.Go(func() {
			if a.store != nil && len(a.trust.Roots().Digests()) > 1 {
				a.confirmRenewal(run) // it joined during a rotation, or stopped before it confirmed
			}
			a.trust.Renew(run, a.renew)
		})
		wg.Go(func() { a.followServers(run) })
		wg.Go(func() { warnOfExpiry(run, a.log, a.certificateWarning) })
	}
	if a.dns != nil {
		wg.Go(func() {
			if err := a.dns.Run(run); err != nil && run.Err() == nil {
				failed <- fmt.Errorf("answer names: %w", err)
			}
		})
	}
	wg.Go(func() { a.names.run(run) })
	names, _ := a.DNS()
	a.log.Info("agent started", "address", "http://"+a.localAddr(), "advertise", a.advertise, "server", a.server != nil, "node", a.node != nil, "router", a.RouterAddr(), "dns", names, "data_dir", a.config.DataDir)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	case err = <-a.broken:
	}
	if a.server != nil && a.trust != nil && err == nil {
		a.handOver()
	}
	stop()
	graceful, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if a.http.Shutdown(graceful) != nil {
		a.http.Close()
	}
	a.tasks.Close()
	wg.Wait()
	if a.server != nil {
		err = errors.Join(err, a.server.Shutdown(graceful))
	}
	return err
}

// drainTimeout bounds the wait for writes in flight after leadership was handed over.
const drainTimeout = time.Second

// handOver transfers leadership, and waits until the writes in flight have their answers, which
// come from the next leader.
func (a *Agent) handOver() {
	a.server.HandOver()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	a.handler.Drain(ctx)
}

// release releases the resources of New. It is called once, at the end.
func (a *Agent) release() {
	if a.endPace != nil {
		a.endPace()
	}
	if a.handler != nil {
		a.handler.Close()
	}
	a.closeAudit()
	if a.relay != nil {
		a.relay.Close()
	}
	if a.supervisor != nil {
		a.supervisor.Close()
	}
	if a.router != nil {
		a.router.Close()
	}
	if a.dns != nil {
		a.dns.Close()
	}
	a.names.close()
	if a.client != nil {
		a.client.Close()
	}
	if a.port != nil {
		a.port.Close()
	}
	if a.lock != nil {
		a.lock.Close()
	}
}

// newHandler returns the HTTP API of this process.
func (a *Agent) newHandler() *httpapi.Handler {
	config := httpapi.Config{
		Metrics: a.newMetrics(), Log: a.tail.bytes, Audit: a.audit, Limits: a.config.Limits, AuditSinks: a.sinkStatus,
		Server: a.server, Servers: a.servers, Logger: a.log,
		Region: a.config.Region, Datacenter: a.config.Datacenter, Name: a.config.Name, Version: a.config.Version,
		Warning: a.warning, Door: a.door, ServerToken: cmp.Or(os.Getenv("REEVE_TOKEN"), os.Getenv("NOMAD_TOKEN")),
	}
	if config.UIReadOnly = a.config.UI.ReadOnly; !a.config.UI.Disabled {
		config.UI = ui.Embedded()
	}
	if a.trust != nil {
		config.Transport = func() *http.Transport { return a.members }
		config.Relay = a.relay
		if a.server == nil {
			config.SetServers = func(ctx context.Context, addresses []string) error {
				return setServers(ctx, a.trust, addresses)
			}
		}
		config.Advertise = a.advertise
		config.Self = func() string { m, _ := a.trust.Member(); return m.ID }
		if a.server != nil {
			config.Leader = func() (string, bool) { leader := a.server.Leader(); return leader, leader != "" }
		}
	}
	if a.node != nil {
		config.Node, config.NodeID = a.node.Handler(), a.node.ID
	}
	if a.router != nil {
		config.Router = a.router.Status
	}
	if a.config.speaksSDK() {
		dialect := httpapi.Dialect{Claims: sdk.Claims, Needs: sdk.Needs}
		if a.server != nil {
			dialect.Handler = sdk.New(a.server, a.log)
		}
		config.Dialects = append(config.Dialects, dialect)
	}
	if a.config.speaksNelson() {
		dialect := httpapi.Dialect{Claims: nelson.Claims, Open: nelson.IsLogin}
		if a.server != nil {
			dialect.Handler = nelson.New(nelsonCore{a.server}, a.config.Version, a.log)
		}
		config.Dialects = append(config.Dialects, dialect)
	}
	return httpapi.New(config)
}

// servers returns the addresses to which a node without a local server forwards requests.
func (a *Agent) servers() []string {
	if a.trust != nil {
		m, _ := a.trust.Member()
		return m.Servers
	}
	var addrs []string
	for _, s := range a.config.Client.Servers {
		addrs = append(addrs, strings.TrimPrefix(s, "http://"))
	}
	return addrs
}
