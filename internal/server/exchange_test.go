// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/remote"
)

// exchange carries the calls of servers to the leader, in the place of their API.
type exchange struct {
	lan *lan
	// lose, if set, decides whether the response to a call is lost.
	lose func(from, path string) bool
	// gate, if set, is called before the request of a server leaves it.
	gate func(ctx context.Context, from, path string)

	polls, answers atomic.Int64 // calls

	mu      sync.Mutex
	servers map[string]*server.Server
}

func newExchange(l *lan) *exchange { return &exchange{lan: l, servers: map[string]*server.Server{}} }

func (x *exchange) add(id string, s *server.Server) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.servers[id] = s
}

func (x *exchange) get(id string) *server.Server {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.servers[id]
}

var errCut = errors.New("the network is cut")

// from returns server.Config.CallLeader of a server.
func (x *exchange) from(id string) func(context.Context, string, []byte) ([]byte, error) {
	return func(ctx context.Context, path string, body []byte) ([]byte, error) {
		if x.gate != nil {
			x.gate(ctx, id, path)
		}
		self := x.get(id)
		if self == nil {
			return nil, errors.New("the server is not ready")
		}
		to := self.Leader()
		leader := x.get(to)
		if leader == nil {
			return nil, errors.New("no leader is known")
		}
		if !x.lan.reaches(id, to) {
			return nil, errCut
		}
		var reply []byte
		var err error
		switch path {
		case remote.PollPath:
			x.polls.Add(1)
			reply, err = leader.PollEvaluations(ctx, id, body)
		case remote.AnswerPath:
			x.answers.Add(1)
			reply, err = leader.AnswerEvaluations(id, body)
		default:
			err = fmt.Errorf("no route %s", path)
		}
		if !x.lan.reaches(id, to) {
			<-ctx.Done() // the caller waits for an answer that does not come
			return nil, errCut
		}
		if err == nil && x.lose != nil && x.lose(id, path) {
			return nil, errCut
		}
		return reply, err
	}
}
