// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/dialect/nelson"
	"github.com/reeve-run/reeve/internal/door"
)

// openDoor reads or creates the token. All callers that are not admitted by their user need
// it, including the agent itself.
func (a *Agent) openDoor() error {
	token, path, err := door.OpenToken(a.config.DataDir)
	if err != nil {
		return err
	}
	config := door.Config{Token: token, TokenFile: path, Hosts: a.config.Hosts}
	if a.config.speaksNelson() {
		config.Cookies = []door.Cookie{{Name: nelson.SessionCookie, Claims: nelson.Claims}}
	}
	a.door, err = door.New(config)
	return err
}

// Token returns the secret that admits any caller to the agent's API.
func (a *Agent) Token() string { return a.door.Token }

// connect creates the client with which the agent calls its own API.
func (a *Agent) connect() (err error) {
	a.client, err = client.New(client.Config{Address: "http://" + a.Addr(), Token: a.Token(), Multiplex: true})
	return err
}
