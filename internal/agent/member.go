// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/port"
	"github.com/reeve-run/reeve/internal/secretfile"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/trust"
)

// identityDir is the directory of a member's identity in its data directory.
const identityDir = "identity"

// memberProtocols are the protocols of the port of a member.
var memberProtocols = []string{"h2", "http/1.1", port.Raft, port.Founding, port.Relay, nodeproto.Protocol}

// openTrust opens the identity of this machine. An agent that is no member of a cluster, and
// is not to become one, has none: it serves plain HTTP on a loopback address.
func (a *Agent) openTrust() error {
	if !a.config.inCluster() {
		return nil
	}
	if a.config.hasFiles() {
		return a.openExternal()
	}
	store, err := trust.OpenGuarded(filepath.Join(a.config.DataDir, identityDir), a.guard)
	if err != nil {
		return err
	}
	store.Logger = a.log
	if m, joined := store.Member(); joined {
		if err := a.checkMember(m, store); err != nil {
			return err
		}
	}
	a.trust, a.store = store, store
	return nil
}

// checkMember refuses to start as another member than this machine is.
func (a *Agent) checkMember(m trust.Member, store *trust.Store) error {
	if m.Role != a.config.role() {
		return api.Errorf(api.CodeInvalid, "this machine is a %s of cluster %s, and the agent is to be a %s: start it as a %s, or empty %s and join again",
			m.Role, m.ClusterID, a.config.role(), m.Role, a.config.DataDir)
	}
	token, err := pki.ParseToken(a.givenToken())
	if err != nil || m.HasDigest(token.Digest) || store.Roots().HasDigest(token.Digest) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "this machine is a member of cluster %s, and the join token belongs to another cluster: start it without the token, or with an empty data directory", m.ClusterID)
}

// givenToken returns the join token of the configuration; "" if a member cannot know it. Members
// need no token: its file may be gone, and standard input is not read.
func (a *Agent) givenToken() string {
	if a.config.JoinTokenFile == "" || a.config.JoinTokenFile == "-" {
		return a.config.JoinToken
	}
	text, err := secretfile.ReadToken(a.config.JoinTokenFile, nil)
	if err != nil {
		return ""
	}
	return text
}

// listen opens the agent's port.
func (a *Agent) listen() (err error) {
	config := port.Config{Addr: a.config.HTTPAddr, Logger: a.log}
	if a.trust != nil {
		config.TLS = a.trust.ServerConfig(memberProtocols...)
	}
	a.port, err = port.Listen(config)
	return err
}

// enter makes this machine a member of its cluster, unless it is one.
func (a *Agent) enter(ctx context.Context) error {
	if a.trust == nil {
		return nil
	}
	m, joined := a.trust.Member()
	switch {
	case a.external != nil:
		a.log.Info("this machine is a member by its certificate", "id", m.ID, "role", m.Role, "expires", a.trust.Expires())
	case joined:
		a.log.Info("this machine is a member", "cluster", m.ClusterID, "id", m.ID, "role", m.Role)
	case a.config.Bootstrap:
		address, err := advertised(a.config.Advertise, a.Addr(), "")
		if err != nil {
			return err
		}
		if err := a.found(address); err != nil {
			return err
		}
	default:
		if err := a.checkDirectory(); err != nil {
			return err
		}
		if err := a.join(ctx); err != nil {
			return err
		}
	}
	if err := a.bindMember(); err != nil {
		return err
	}
	var err error
	toward := ""
	if m, _ := a.trust.Member(); len(m.Servers) > 0 {
		toward = m.Servers[0]
	}
	if a.advertise, err = advertised(a.config.Advertise, a.Addr(), toward); err != nil {
		return err
	}
	if err := a.checkTwin(ctx); err != nil || a.external == nil {
		return err
	}
	return a.agree(ctx)
}

// serverMember returns the part of this agent's server in the cluster; nil if it runs alone.
func (a *Agent) serverMember() (*server.Member, error) {
	if a.trust == nil {
		return nil, nil
	}
	founding, err := a.founding()
	if err != nil {
		return nil, err
	}
	m, _ := a.trust.Member()
	member := &server.Member{
		ID: m.ID, Name: a.config.Name, ClusterID: m.ClusterID, Address: a.advertise, Version: a.config.Version,
		Region: a.config.Region, Datacenter: a.config.Datacenter,
		SealKey: a.trust.SealKey(), Founding: founding, Reach: reach, MemberAt: a.memberAt, SpeakerAt: a.speakerAt,
	}
	if a.external != nil {
		member.External = &server.External{Digest: a.trust.Roots().Digests()[0], Validity: a.validity, Founded: a.foundedByFiles}
	}
	return member, nil
}

// validity returns the validity of the certificate.
func (a *Agent) validity() (from, to time.Time) { return a.external.Issued(), a.external.Expires() }

// foundedByFiles stores the operator's token and the recovery key of a new cluster without an authority of
// its own.
func (a *Agent) foundedByFiles(token string) (recoveryKey []byte, err error) {
	recovery, err := keyring.NewRecovery()
	if err != nil {
		return nil, err
	}
	if err := secretfile.Write(a.OperatorTokenPath(), []byte(token+"\n")); err != nil {
		return nil, err
	}
	a.log.Info("the cluster was founded", "operator_token", a.OperatorTokenPath())
	a.keepRecoveryKey(recovery.Text())
	return recovery.Public(), nil
}

// reach connects to another agent, and returns the public key that it proves to have.
func reach(ctx context.Context, address string) (publicKey []byte, err error) {
	dialer := tls.Dialer{Config: trust.UnverifiedConfig("http/1.1")}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	peers := conn.(*tls.Conn).ConnectionState().PeerCertificates
	if len(peers) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return peers[0].RawSubjectPublicKeyInfo, nil
}

// memberAt connects to another member, and returns its id.
func (a *Agent) memberAt(ctx context.Context, address string) (id string, err error) {
	dialer := tls.Dialer{Config: a.trust.MemberConfig("http/1.1")}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	who, ok := a.trust.Peer(conn.(*tls.Conn).ConnectionState())
	if !ok {
		return "", errors.New("it is no member of the cluster")
	}
	return who.ID, nil
}

// refreshEvery is the interval between two looks at the servers' addresses and the roots. In a
// large fleet it is longer: the servers' spread, up to refreshMost.
const (
	refreshEvery = 5 * time.Second
	refreshMost  = 5 * time.Minute
)

// followServers remembers the addresses of all servers, so that the agent finds one after the
// others moved or failed, and notices new roots.
func (a *Agent) followServers(ctx context.Context) {
	for {
		var spread time.Duration
		err := a.rememberServers(ctx)
		if a.external != nil {
			a.announceCertificate(ctx)
		} else if err == nil {
			spread, err = a.followRoots(ctx)
		}
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			a.log.Debug("cannot refresh the servers and roots of the cluster", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(max(refreshEvery, spread), refreshMost)):
		}
	}
}

func (a *Agent) rememberServers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	addresses, err := a.client.Status().Peers(ctx)
	if err != nil {
		return err
	}
	slices.Sort(addresses)
	if len(addresses) == 0 {
		return nil
	}
	return a.trust.SetServers(addresses)
}

// localHost returns the host at which processes of this machine reach the agent's port.
func (a *Agent) localHost() string {
	host, _, _ := net.SplitHostPort(a.Addr())
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "127.0.0.1"
	}
	return host
}

func (a *Agent) portNumber() string {
	_, number, _ := net.SplitHostPort(a.Addr())
	return number
}

// localAddr returns the address at which processes of this machine reach the API, by plain HTTP.
func (a *Agent) localAddr() string { return net.JoinHostPort(a.localHost(), a.portNumber()) }
