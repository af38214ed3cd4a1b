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
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/dialect/nelson"
	"github.com/reeve-run/reeve/internal/dialect/sdk"
	"github.com/reeve-run/reeve/internal/dns"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/httpapi"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/router"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/gcpace"
)

// An Agent is one running process of Reeve.
type Agent struct {
	config   Config
	log      *slog.Logger
	lock     *os.File
	listener net.Listener
	handler  *httpapi.Handler
	http     *http.Server
	server   *server.Server
	node     *node.Node
	router   *router.Router
	dns      *dns.Server
	client   *client.Client

	supervisor *supervise.Client
	door       *door.Door
	broken     chan error // errors that must end the process, such as a failed disk of the log
}

// New checks the configuration, locks the data directory, listens on the address, and prepares
// the parts that Run starts. On failure it releases everything.
func New(config Config) (*Agent, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	a := &Agent{config: config, log: config.logger(), broken: make(chan error, 1)}
	if config.Logger == nil {
		logLibraries(a.log.Handler())
	}
	if config.Server.Enabled && os.Getenv("GOGC") == "" {
		gcpace.Bound()
	}
	if err := a.open(); err != nil {
		if a.server != nil {
			err = errors.Join(err, a.server.Shutdown(context.Background()))
		}
		a.release()
		return nil, err
	}
	return a, nil
}

func (a *Agent) open() (err error) {
	if a.lock, err = lockDir(a.config.DataDir); err != nil {
		return err
	}
	if err = a.openDoor(); err != nil {
		return err
	}
	if a.listener, err = net.Listen("tcp", a.config.HTTPAddr); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return api.Errorf(api.CodeUnavailable, "address %s is already in use: another agent may be running; stop it, or choose another address with -http-addr", a.config.HTTPAddr)
		}
		return api.Errorf(api.CodeUnavailable, "cannot listen on %s: %v", a.config.HTTPAddr, err)
	}
	if a.config.Server.Enabled {
		s := a.config.Server
		a.server, err = server.New(server.Config{
			DataDir: filepath.Join(a.config.DataDir, "server"), Name: a.config.Name, Region: a.config.Region,
			Addr: a.Addr(), Logger: a.log, Workers: s.Workers,
			HeartbeatTTL: s.HeartbeatTTL, HeartbeatGrace: s.HeartbeatGrace, MassLoss: s.MassLoss, GC: s.thresholds(),
			SweepInterval: s.StackSweepInterval, Zone: a.config.DNS.Zone, LoopbackStacks: a.config.Dev, Broken: func(err error) { a.broken <- err },
		})
		if err != nil {
			return err
		}
	}
	if a.config.Client.Enabled || a.config.answersNames() {
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
	a.handler = a.newHandler()
	a.http = httpapi.NewServer(a.handler, a.log)
	return nil
}

// Addr returns the address of the HTTP API, as host:port.
func (a *Agent) Addr() string { return a.listener.Addr().String() }

// Run serves until the context ends. Then it ends the active requests, including streams,
// stops the node without its tasks, and closes the server last, because the other parts use
// it. Tasks continue; see StopTasks.
func (a *Agent) Run(ctx context.Context) error {
	defer a.release()
	if a.server != nil {
		if err := a.server.Start(ctx); err != nil {
			return errors.Join(err, a.server.Shutdown(context.Background()))
		}
	}
	run, stop := context.WithCancel(ctx)
	defer stop()
	a.http.BaseContext = func(net.Listener) context.Context { return run }
	var wg sync.WaitGroup
	failed := make(chan error, 3)
	wg.Go(func() {
		if err := a.http.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve http: %w", err)
		}
	})
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
	if a.dns != nil {
		wg.Go(func() {
			if err := a.dns.Run(run); err != nil && run.Err() == nil {
				failed <- fmt.Errorf("answer names: %w", err)
			}
		})
	}
	names, _ := a.DNS()
	a.log.Info("agent started", "address", "http://"+a.Addr(), "server", a.server != nil, "node", a.node != nil, "router", a.RouterAddr(), "dns", names, "data_dir", a.config.DataDir)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	case err = <-a.broken:
	}
	stop()
	graceful, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if a.http.Shutdown(graceful) != nil {
		a.http.Close()
	}
	wg.Wait()
	if a.server != nil {
		err = errors.Join(err, a.server.Shutdown(graceful))
	}
	return err
}

// release releases the resources of New. It is called once, at the end.
func (a *Agent) release() {
	if a.handler != nil {
		a.handler.Close()
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
	if a.client != nil {
		a.client.Close()
	}
	if a.listener != nil {
		a.listener.Close()
	}
	if a.lock != nil {
		a.lock.Close()
	}
}

// newHandler returns the HTTP API of this process.
func (a *Agent) newHandler() *httpapi.Handler {
	config := httpapi.Config{
		Server: a.server, Servers: a.servers, Logger: a.log,
		Region: a.config.Region, Datacenter: a.config.Datacenter, Name: a.config.Name, Version: a.config.Version,
		Door: a.door, ServerToken: cmp.Or(os.Getenv("REEVE_TOKEN"), os.Getenv("NOMAD_TOKEN")),
	}
	if a.node != nil {
		config.Node, config.NodeID = a.node.Handler(), a.node.ID
	}
	if a.router != nil {
		config.Router = a.router.Status
	}
	if a.config.speaksSDK() {
		dialect := httpapi.Dialect{Claims: sdk.Claims}
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
	var addrs []string
	for _, s := range a.config.Client.Servers {
		addrs = append(addrs, strings.TrimPrefix(s, "http://"))
	}
	return addrs
}
