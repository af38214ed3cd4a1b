// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/door"
)

// openDoor reads or makes the token, which everybody needs who may not use the
// API by its user alone: the agent itself, too.
func (a *Agent) openDoor() error {
	token, path, err := door.OpenToken(a.config.DataDir)
	if err != nil {
		return err
	}
	a.door, err = door.New(door.Config{Token: token, TokenFile: path, Hosts: a.config.Hosts})
	return err
}

// Token is what the agent's API lets anybody in for.
func (a *Agent) Token() string { return a.door.Token }

// connect makes the client with which the agent talks to its own API.
func (a *Agent) connect() (err error) {
	a.client, err = client.New(client.Config{Address: "http://" + a.Addr(), Token: a.Token(), Multiplex: true})
	return err
}
