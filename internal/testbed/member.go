// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"os"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/network"
	"github.com/reeve-run/reeve/internal/testbed/output"
)

// MemberPort is the port of agents on hosts of a network.
const MemberPort = "4646"

// On returns an agent on a host of a network, with a data directory of its own. Its client
// calls the API as a process of the host does.
func On(h *network.Host, reeve string, args ...string) (*Machine, error) {
	dir, err := os.MkdirTemp("", "reeve-m-")
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{Address: "http://127.0.0.1:" + MemberPort, Dial: h.Dial})
	if err != nil {
		return nil, err
	}
	return &Machine{Reeve: reeve, Dir: dir, Addr: "0.0.0.0:" + MemberPort, Args: args, Client: c, Command: h.Command, output: &output.Text{}}, nil
}
