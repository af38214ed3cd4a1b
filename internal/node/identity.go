// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// identity is the node's id. Its certificate proves it.
type identity struct {
	ID string
}

const (
	identityKey  = "identity"
	identityFile = "identity.json"
)

// A passport is the node's identity, which must survive the loss of the ledger: the servers
// would take a node with a new identity for another node, and replace all its allocations.
// It is a file beside the ledger.
type passport struct {
	identity
	Cluster  string `json:",omitempty"` // as stored in the ledger under keyCluster
	Timeline string `json:",omitempty"` // as stored in the ledger under keyTimeline
}

// loadIdentity reads the node's identity from the ledger, or else from the file beside it.
// Otherwise it creates an identity, records it before it is used, and reports made. The
// identity must be that of the node's certificate, if member is not "".
func loadIdentity(l *ledger.Ledger, dir, member string) (id identity, made bool, err error) {
	if data := l.Get(identityKey); data != nil {
		if err := json.Unmarshal(data, &id); err != nil {
			return id, false, fmt.Errorf("read the node's identity: %w", err)
		}
		return id, false, id.check(dir, member)
	}
	p, err := readPassport(dir)
	if err != nil {
		return id, false, err
	}
	if made = p.ID == ""; made {
		p.identity = identity{ID: cmp.Or(member, api.NewID())}
	}
	if err := p.check(dir, member); err != nil {
		return id, false, err
	}
	if p.Cluster != "" {
		l.Put(keyCluster, []byte(p.Cluster))
	}
	if p.Timeline != "" {
		l.Put(keyTimeline, []byte(p.Timeline))
	}
	data, err := json.Marshal(p.identity)
	if err != nil {
		return id, false, fmt.Errorf("encode the node's identity: %w", err)
	}
	return p.identity, made, l.Put(identityKey, data).Wait()
}

// check returns an error unless the identity is that of a certificate.
func (id identity) check(dir, member string) error {
	if member == "" || id.ID == member {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "%s is the data of node %s, but this machine joined its cluster as node %s: move the directory away, or restore the identity directory that belongs to it", dir, id.ID, member)
}

// ReadID returns the id of the node whose data is in a directory; "" for an empty directory. A
// machine joins its cluster with this id, so that the servers recognise what it runs.
func ReadID(dir string) (string, error) {
	p, err := readPassport(dir)
	return p.ID, err
}

// readPassport reads the passport; an empty one if the file is missing.
func readPassport(dir string) (p passport, err error) {
	path := filepath.Join(dir, identityFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil && p.ID == "" {
		err = errors.New("it holds no id")
	}
	if err != nil {
		return p, fmt.Errorf("read the node's identity from %s: %w; restore it from a backup, or remove it to have the agent register as a new node", path, err)
	}
	return p, nil
}

// keepPassport writes the ledger's identity to the passport if it differs. A failure is only
// logged, because the file is read only after the loss of the ledger. The mutex is held, or
// the node is not shared yet.
func (n *Node) keepPassport() {
	p := passport{identity: n.identity, Cluster: n.cluster, Timeline: n.timeline}
	if old, err := readPassport(n.config.DataDir); err == nil && old == p {
		return
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = secretfile.Write(filepath.Join(n.config.DataDir, identityFile), append(data, '\n'))
	}
	if err != nil {
		n.log.Error("cannot write the node's identity beside its ledger: it would be lost with it", "error", err)
	}
}
