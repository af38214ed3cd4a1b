// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Speaker is the agent that answers at an address.
type Speaker struct {
	ID        string        // of the member
	Advertise string        // the address at which it says that others reach it; "" if it does not say
	Ahead     time.Duration // of its clock before this machine's, at least; negative: behind
}

// IsTwin reports whether the speaker at an address has the identity of a server that is at another
// one, and is not the same process: that one gives its own address at all addresses.
func (s Speaker) IsTwin(id, at, other string) bool {
	return s.ID == id && s.Advertise == at && at != other
}

// TwinError rejects the second of two servers with one identity.
func TwinError(id, name, address, running string) error {
	return api.Errorf(api.CodeConflict, "server %s (%s) runs at %s already, and a second process has its identity at %s: the data directory of one of them is a copy; "+
		"stop the copy, and start it with an empty data directory and a join token", api.ShortID(id), name, running, address)
}
