// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/founding"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/port"
)

const (
	foundTimeout  = 5 * time.Second // of one question
	foundInterval = time.Second     // between two rounds, unless retry_interval is set
	foundLimit    = 64 << 10        // bytes of a message
)

// agree takes part in the founding of a cluster by the servers of bootstrap_expect. It returns
// when this server knows whether it founds the cluster.
func (a *Agent) agree(ctx context.Context) error {
	if a.config.BootstrapExpect < 2 || !a.config.Server.Enabled {
		return nil
	}
	m, _ := a.trust.Member()
	path := filepath.Join(a.config.DataDir, "founding.promise")
	_, unpromised := os.Stat(path)
	agreement, err := founding.Open(path, founding.Server{
		ID: m.ID, Instance: api.NewID(), Name: a.config.Name, Address: a.advertise, Expect: a.config.BootstrapExpect,
		// Without a promise, only a member has a log.
		InCluster: unpromised != nil && a.checkDirectory() != nil,
	})
	if err != nil {
		return err
	}
	a.agreement = agreement
	listener := a.port.Stream(port.Founding)
	go serveFounding(listener, func(state tls.ConnectionState) (string, bool) {
		who, ok := a.trust.Peer(state)
		return who.ID, ok && who.Role == pki.RoleServer
	}, agreement)
	members, err := agreement.Run(ctx, founding.Env{Hosts: a.foundingHosts, Ask: a.askFounder, Interval: a.config.foundInterval(), Logger: a.log})
	for _, s := range members {
		a.founders = append(a.founders, raft.Server{ID: raft.ServerID(s.ID), Address: raft.ServerAddress(s.Address)})
	}
	return err
}

func (c *Config) foundInterval() time.Duration {
	if c.RetryInterval > 0 {
		return min(c.RetryInterval, joinAgainMost)
	}
	return foundInterval
}

// foundingHosts returns the addresses of all servers in the configuration. A name may have
// several.
func (a *Agent) foundingHosts(ctx context.Context) []string {
	var all []string
	for _, address := range withPorts(a.config.Join) {
		host, number, err := net.SplitHostPort(address)
		if err != nil {
			continue
		}
		found, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			found = []string{host} // the question reports the error
		}
		for _, ip := range found {
			if at := net.JoinHostPort(ip, number); !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	return all
}

// askFounder asks the server at an address.
func (a *Agent) askFounder(ctx context.Context, address string, r founding.Request) (founding.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, foundTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: a.trust.ClientConfig(port.Founding)}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return founding.Server{}, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	var answer founding.Server
	err = errors.Join(conn.SetDeadline(deadline), json.NewEncoder(conn).Encode(r))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, foundLimit)).Decode(&answer)
	}
	if who, ok := a.trust.Peer(conn.(*tls.Conn).ConnectionState()); err == nil && (!ok || who.ID != answer.ID) {
		err = errors.New("it gives another id than its certificate")
	}
	return answer, err
}

// serveFounding answers the questions of other servers until the listener is closed.
func serveFounding(listener net.Listener, server func(tls.ConnectionState) (id string, ok bool), agreement *founding.Agreement) {
	var busy sync.WaitGroup
	defer busy.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		busy.Go(func() {
			defer conn.Close()
			c, ok := conn.(*tls.Conn)
			if !ok || c.SetDeadline(time.Now().Add(foundTimeout)) != nil {
				return
			}
			from, ok := server(c.ConnectionState())
			var r founding.Request
			if !ok || json.NewDecoder(io.LimitReader(c, foundLimit)).Decode(&r) != nil {
				return
			}
			if answer, err := agreement.Answer(from, r); err == nil {
				_ = json.NewEncoder(c).Encode(answer) // the other server asks again
			}
		})
	}
}
