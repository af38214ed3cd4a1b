// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/secretfile"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/trust"
)

// Founded describes a new cluster to the person who founded it.
type Founded struct {
	Address       string // of this server
	Tokens        *api.JoinTokens
	OperatorToken string // path of the file with the operator's token
	RecoveryKey   string // the secret of the recovery key; "": it was shown before
	RecoveryPath  string // of the file that receives it unless the person sees it
}

// A foundingFile holds the secrets of a new cluster until its state holds them, encrypted.
type foundingFile struct {
	Root       string // in PEM
	Key        string // of the root, in PEM
	ClusterKey []byte
	Operator   []byte // SHA-256 of the operator's token
	Recovery   string // secret of the recovery key
}

func (a *Agent) foundingPath() string {
	return filepath.Join(a.config.DataDir, "founding.json")
}

// OperatorTokenPath returns the file that holds the operator's first token.
func (a *Agent) OperatorTokenPath() string {
	return filepath.Join(a.config.DataDir, "operator.token")
}

// RecoveryKeyPath returns the file that receives the recovery key of a new cluster.
func (a *Agent) RecoveryKeyPath() string {
	return filepath.Join(a.config.DataDir, "recovery.key")
}

// found makes this machine the first server of a new cluster: it creates the certificate
// authority, its own certificate and the operator's token. The state of an agent that ran alone
// becomes that of the cluster. Until the state of the cluster
// holds the secrets they are in a file, so that an interruption loses nothing.
func (a *Agent) found(advertise string) error {
	id, clusterKey, err := a.takeOver(advertise)
	if err != nil {
		return err
	}
	if id == "" {
		id = api.NewID()
	}
	if clusterKey == nil {
		clusterKey = pki.NewClusterKey()
	}
	member := trust.Member{ID: id, Role: pki.RoleServer, ClusterID: api.NewID(), Servers: []string{advertise}}
	now := time.Now()
	ca, err := pki.NewAuthority(member.ClusterID, now)
	if err != nil {
		return err
	}
	csr, _, err := a.store.Prepare(member.ID)
	if err != nil {
		return err
	}
	leaf := pki.Leaf{ID: member.ID, Role: member.Role, ClusterID: member.ClusterID, Region: a.config.Region, Address: advertise}
	certificate, err := ca.Sign(csr, leaf, now)
	if err != nil {
		return err
	}
	digest, err := pki.Digest(ca.CertPEM())
	if err != nil {
		return err
	}
	key, err := ca.KeyPEM()
	if err != nil {
		return err
	}
	operator := pki.NewToken(pki.OperatorToken, digest)
	hash := operator.Hash()
	recovery, err := keyring.NewRecovery()
	if err != nil {
		return err
	}
	text, err := json.Marshal(foundingFile{
		Root: string(ca.CertPEM()), Key: string(key), ClusterKey: clusterKey, Operator: hash[:], Recovery: recovery.Text(),
	})
	if err != nil {
		return err
	}
	if err := secretfile.Write(a.OperatorTokenPath(), []byte(operator.String()+"\n")); err != nil {
		return err
	}
	if err := secretfile.Write(a.foundingPath(), text); err != nil {
		return err
	}
	return a.store.Enter(member, certificate, ca.CertPEM())
}

// founding returns what the server must store first, if this machine founds a cluster and its
// state does not hold everything yet.
func (a *Agent) founding() (*server.Founding, error) {
	text, err := os.ReadFile(a.foundingPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f foundingFile
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	var ca *pki.Authority
	if err == nil {
		ca, err = pki.ParseAuthority([]byte(f.Root), []byte(f.Key))
	}
	founding := &server.Founding{Authority: ca, ClusterKey: f.ClusterKey, Expires: a.trust.Expires(), Done: func() { a.founded(f.Recovery) }}
	if err == nil && f.Recovery != "" {
		var recovery *keyring.Recovery
		if recovery, err = keyring.ParseRecovery(f.Recovery); err == nil {
			founding.Recovery = recovery.Public()
		}
	}
	if err == nil && copy(founding.Operator[:], f.Operator) != len(founding.Operator) {
		err = errors.New("it holds no token of an operator")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, the secrets of the new cluster: %w; if the cluster has no other server yet, delete the data directory and start again", a.foundingPath(), err)
	}
	return founding, nil
}

// founded tells the founder of a new cluster about it, and forgets its secrets, which its state holds now.
func (a *Agent) founded(recovery string) {
	defer a.forgetFounding()
	f := Founded{Address: a.advertise, OperatorToken: a.OperatorTokenPath(), RecoveryKey: recovery, RecoveryPath: a.RecoveryKeyPath()}
	var err error
	if f.Tokens, err = a.server.JoinTokens(); err != nil {
		a.log.Error("cannot read the join tokens of the new cluster", "error", err)
	}
	shown := f.Tokens != nil && a.config.Founded != nil && a.config.Founded(f)
	if !shown && recovery != "" {
		a.keepRecoveryKey(recovery)
	}
}

// keepRecoveryKey writes the recovery key of a new cluster to a file, because nobody saw it.
func (a *Agent) keepRecoveryKey(secret string) {
	if err := secretfile.Write(a.RecoveryKeyPath(), []byte(secret+"\n")); err != nil {
		a.log.Error("cannot write the recovery key of the new cluster: create another one with: reeve keyring recovery-key", "error", err)
		return
	}
	a.log.Warn("the recovery key opens the variables of snapshots on new machines: move this file away from the servers", "file", a.RecoveryKeyPath())
}

func (a *Agent) forgetFounding() {
	if err := server.ForgetOwnKey(a.serverDir()); err != nil {
		a.log.Error("cannot delete the key of the server that ran alone: delete the file", "error", err)
	}
	if err := os.Remove(a.foundingPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Error("cannot delete the secrets of the new cluster, which the state holds now: delete the file", "file", a.foundingPath(), "error", err)
	}
}
