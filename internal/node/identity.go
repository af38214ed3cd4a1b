// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// identity is who the node is, and how it proves that.
type identity struct {
	ID     string
	Secret string
}

const identityKey = "identity"

// loadIdentity reads the node's identity, or makes one that is on record
// before anybody hears of it.
func loadIdentity(l *ledger.Ledger) (identity, error) {
	var id identity
	if data := l.Get(identityKey); data != nil {
		if err := json.Unmarshal(data, &id); err != nil {
			return id, fmt.Errorf("read the node's identity: %w", err)
		}
		return id, nil
	}
	id = identity{ID: api.NewID(), Secret: api.NewID()}
	data, err := json.Marshal(id)
	if err != nil {
		return id, fmt.Errorf("encode the node's identity: %w", err)
	}
	return id, l.Put(identityKey, data).Wait()
}
