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
}

// A foundingFile holds the secrets of a new cluster until its state holds them, encrypted.
type foundingFile struct {
	Root       string // in PEM
	Key        string // of the root, in PEM
	ClusterKey []byte
	Operator   []byte // SHA-256 of the operator's token
}

func (a *Agent) foundingPath() string {
	return filepath.Join(a.config.DataDir, "founding.json")
}

// OperatorTokenPath returns the file that holds the operator's first token.
func (a *Agent) OperatorTokenPath() string {
	return filepath.Join(a.config.DataDir, "operator.token")
}

// found makes this machine the first server of a new cluster: it creates the certificate
// authority, its own certificate and the operator's token. Until the state of the cluster
// holds the secrets they are in a file, so that an interruption loses nothing.
func (a *Agent) found(advertise string) error {
	member := trust.Member{ID: api.NewID(), Role: pki.RoleServer, ClusterID: api.NewID(), Servers: []string{advertise}}
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
	text, err := json.Marshal(foundingFile{Root: string(ca.CertPEM()), Key: string(key), ClusterKey: pki.NewClusterKey(), Operator: hash[:]})
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
	founding := &server.Founding{Authority: ca, ClusterKey: f.ClusterKey, Expires: a.trust.Expires(), Done: a.founded}
	if err == nil && copy(founding.Operator[:], f.Operator) != len(founding.Operator) {
		err = errors.New("it holds no token of an operator")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, the secrets of the new cluster: %w; if the cluster has no other server yet, delete the data directory and start again", a.foundingPath(), err)
	}
	return founding, nil
}

// founded forgets the secrets of a new cluster, which its state holds now.
func (a *Agent) founded() {
	if err := os.Remove(a.foundingPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Error("cannot delete the secrets of the new cluster, which the state holds now: delete the file", "file", a.foundingPath(), "error", err)
	}
	tokens, err := a.server.JoinTokens()
	if err != nil {
		a.log.Error("cannot read the join tokens of the new cluster", "error", err)
		return
	}
	if a.config.Founded != nil {
		a.config.Founded(Founded{Address: a.advertise, Tokens: tokens, OperatorToken: a.OperatorTokenPath()})
	}
}
