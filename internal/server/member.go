// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// A Member is this server's own part in a cluster whose members trust certificates.
type Member struct {
	ID         string
	Name       string
	ClusterID  string
	Address    string // host:port at which the others reach this server
	Version    string
	Region     string
	Datacenter string
	SealKey    []byte // private key that opens the cluster's key
	// Founding makes the trust of a new cluster; nil: the server joined one, or restarted.
	Founding *Founding
	// External is set if the members have certificates of another authority than the cluster's.
	External *External
	// Reach connects to the API of another machine, and returns the public key that it proves
	// to have.
	Reach func(ctx context.Context, address string) (publicKey []byte, err error)
	// MemberAt connects to the API of another member, and returns its id.
	MemberAt func(ctx context.Context, address string) (id string, err error)
	// SpeakerAt asks another member who it is.
	SpeakerAt func(ctx context.Context, address string) (Speaker, error)
	// Group holds the replicas that vote on the log; nil: those of the server's own log.
	Group group
}

// A Founding holds the first secrets of a cluster. It is used once: when the first server
// first leads.
type Founding struct {
	Authority  *pki.Authority
	ClusterKey []byte
	Operator   [32]byte // SHA-256 of the operator's first token
	Expires    time.Time
	Recovery   []byte // public key of the recovery key; nil: none
	// Done is called when the cluster's state holds everything.
	Done func()
}

// An External describes certificates of another authority.
type External struct {
	Digest   string // of the authority
	Validity func() (from, to time.Time)
	// Founded stores the operator's first token of a new cluster, and the secret of the recovery key
	// whose public key it returns.
	Founded func(token string) (recoveryKey []byte, err error)
}

// Purposes of encrypted secrets. They are part of the format of the state.
const (
	purposeClusterKey  = "cluster key"
	purposeAuthority   = "key of the authority"
	purposeServerToken = "join token of servers"
	purposeNodeToken   = "join token of nodes"
)

// tokenPurposes has the purpose of each kind of join token.
var tokenPurposes = map[pki.TokenKind]string{pki.ServerToken: purposeServerToken, pki.NodeToken: purposeNodeToken}

// foundCluster stores the trust of a new cluster, if this server founds one.
func (s *Server) foundCluster(ctx context.Context) error {
	m := s.cfg.Member
	if m != nil && m.External != nil {
		return s.foundExternal(ctx)
	}
	if m == nil || m.Founding == nil {
		return nil
	}
	if s.store.Snapshot().Trust() == nil {
		trust, self, err := m.founding(time.Now())
		if err != nil {
			return err
		}
		var absent uint64
		cmds := []state.Command{state.PutTrust(trust, &absent), state.PutServer(self, nil)}
		if _, err := s.propose(ctx, append(cmds, firstRecoveryKey(m.Founding.Recovery)...)...); err != nil {
			return err
		}
	}
	m.Founding.Done()
	return nil
}

// firstRecoveryKey returns the command that stores the recovery key of a new cluster, if it has one.
func firstRecoveryKey(public []byte) []state.Command {
	if public == nil {
		return nil
	}
	return []state.Command{state.PutRecoveryKey(&api.RecoveryKey{Name: keyring.Fingerprint(public), PublicKey: public, CreateTime: time.Now().UnixNano()}, 0)}
}

// founding returns the trust of a new cluster and its first server.
func (m *Member) founding(now time.Time) (*state.Trust, *api.Server, error) {
	f := m.Founding
	keyPEM, err := f.Authority.KeyPEM()
	if err != nil {
		return nil, nil, err
	}
	digest, err := pki.Digest(f.Authority.CertPEM())
	if err != nil {
		return nil, nil, err
	}
	public, err := pki.SealPublic(m.SealKey)
	if err != nil {
		return nil, nil, err
	}
	sealed, err := pki.Seal(public, f.ClusterKey, purposeClusterKey)
	if err != nil {
		return nil, nil, err
	}
	trust := &state.Trust{
		ClusterID: m.ClusterID, Roots: string(f.Authority.CertPEM()),
		CAKey:  pki.Encrypt(f.ClusterKey, keyPEM, purposeAuthority),
		Tokens: map[string][]byte{}, Operators: [][]byte{f.Operator[:]},
	}
	for kind, purpose := range tokenPurposes {
		trust.Tokens[string(kind)] = pki.Encrypt(f.ClusterKey, []byte(pki.NewToken(kind, digest).String()), purpose)
	}
	return trust, &api.Server{
		ID: m.ID, Name: m.Name, Address: m.Address, Version: m.Version, Region: m.Region, Datacenter: m.Datacenter,
		Joined: now.UnixNano(), Issued: now.UnixNano(), Expires: f.Expires.UnixNano(), Level: state.Level, SealKey: public, SealedKey: sealed,
	}, nil
}

// A group is the replicas of the log.
type group interface {
	AddNonvoter(ctx context.Context, id, address string) error
	Servers() ([]replica.Peer, error)
}

// group returns the replicas of the server's log.
func (s *Server) group() group {
	if s.cfg.Member.Group != nil {
		return s.cfg.Member.Group
	}
	return s.replica
}
