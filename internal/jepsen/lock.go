// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// Kinds of operations on locks. The value of an operation is the id of the lock, and its index the
// fencing number.
const (
	opAcquire = "acquire"
	opRenew   = "renew"
	opFenced  = "fenced" // write with the lock
	opRelease = "release"
)

const (
	lockPrefix  = "lock-"
	locksOfLoad = 6 // an unknown acquisition blocks a lock for its time to live
	lockClients = 6
	lockTTL     = api.MinLockTTL
	longestHold = 30 * time.Millisecond
)

// lockNames returns the names of a round's locks.
func lockNames() (names []string) {
	for i := range locksOfLoad {
		names = append(names, fmt.Sprint(lockPrefix, i))
	}
	return names
}

// runLocks has clients take locks, write with them, and release them, until ctx ends.
func (l *load) runLocks(ctx context.Context, c *cluster, seed uint64) {
	var running sync.WaitGroup
	for i := range lockClients {
		r := rand.New(rand.NewPCG(seed, uint64(allClients+i)))
		h := &holder{load: l, id: harnessClient + 1 + i, client: c.all[i%len(c.all)].Client, random: r}
		running.Go(func() { h.run(ctx) })
	}
	running.Wait()
}

// A holder is a client that takes locks.
type holder struct {
	load   *load
	id     int
	client *client.Client
	random *rand.Rand
}

func (h *holder) run(ctx context.Context) {
	for ctx.Err() == nil {
		name := fmt.Sprint(lockPrefix, h.random.IntN(locksOfLoad))
		o := h.do(opAcquire, name, "")
		if o.Result != resultOK {
			pass(ctx, afterError)
			continue
		}
		for _, kind := range []string{opFenced, opRenew} {
			if h.random.IntN(2) == 0 {
				h.do(kind, name, o.Value)
			}
			pass(ctx, time.Duration(h.random.Int64N(int64(longestHold))))
		}
		// An unknown release is repeated: the lock would be lost to the round.
		for attempts := 0; attempts < 3 && h.do(opRelease, name, o.Value).Result == resultUnknown; attempts++ {
			pass(ctx, afterError)
		}
	}
}

// do calls an operation and records its outcome, unless it certainly had no effect.
func (h *holder) do(kind, name, id string) operation {
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	path := "jepsen/" + h.load.round + "/" + name
	variables := h.client.Variables()
	o := operation{Register: name, Client: h.id, Kind: kind, Value: id, Result: resultOK, Call: h.load.history.now()}
	var v *api.Variable
	var err error
	switch kind {
	case opAcquire:
		v, err = variables.Acquire(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path, Lock: &api.VariableLock{TTL: lockTTL.String(), LockDelay: "0s"}}})
	case opRenew:
		v, err = variables.Renew(ctx, path, id)
	case opFenced:
		v, err = variables.Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path, Lock: &api.VariableLock{ID: id}}, Items: map[string]string{"holder": id}})
	case opRelease:
		v, err = variables.Release(ctx, path, id)
	}
	o.Return = h.load.history.now()
	switch {
	case err == nil && kind == opAcquire:
		o.Value, o.Index = v.Lock.ID, v.ModifyIndex
	case err == nil:
		o.Index = v.ModifyIndex
	case isRefused(err), strings.Contains(err.Error(), notMade):
		o.Result = resultNone
		return o
	case isLockConflict(err):
		o.Result = resultConflict
	default:
		o.Result, o.Error = resultUnknown, err.Error()
	}
	h.load.history.add(o)
	return o
}

// isLockConflict reports whether a server refused because of who holds the lock. Other conflicts are of
// writes that met.
func isLockConflict(err error) bool {
	return api.CodeOf(err) == api.CodeConflict && (strings.Contains(err.Error(), "locked") || strings.Contains(err.Error(), "the lock"))
}
