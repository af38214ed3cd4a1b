// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAPipelineWhoseAnswersNobodyReadsDoesNotBlock lets a follower reject requests, as with a disk that fails.
// Raft then reads no more answers, and may send another request before it closes the pipeline.
func TestAPipelineWhoseAnswersNobodyReadsDoesNotBlock(t *testing.T) {
	n := newNetwork(t)
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}
	follower := NewTransport(n.listen("follower"), dial, "follower", nil, nil)
	leader := NewTransport(n.listen("leader"), dial, "leader", nil, nil)
	for _, transport := range []raft.Transport{follower, leader} {
		defer transport.(raft.WithClose).Close()
	}
	const accepted = 3
	go func() {
		for i := 0; ; i++ {
			select {
			case rpc := <-follower.Consumer():
				rpc.Respond(&raft.AppendEntriesResponse{Term: 1, Success: i < accepted}, nil)
			case <-t.Context().Done():
				return
			}
		}
	}()

	inner, err := leader.AppendEntriesPipeline("follower", raft.ServerAddress(n.listeners["follower"].Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	pipeline := new(notices).carry(inner)
	read := make(chan int, 1)
	go func() { // as raft does
		for successes := 0; ; successes++ {
			if answer := <-pipeline.Consumer(); !answer.Response().Success {
				read <- successes
				return
			}
		}
	}()
	sent := make(chan error, 1)
	go func() {
		for range accepted + 20 {
			if _, err := pipeline.AppendEntries(&raft.AppendEntriesRequest{Term: 1}, new(raft.AppendEntriesResponse)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	select {
	case err := <-sent:
		if err != nil {
			t.Error(err)
		}
	case <-wait.Limit(t, 30*time.Second):
		t.Error("requests wait forever after a rejected one")
	}
	if successes := <-read; successes != accepted {
		t.Errorf("%d successful answers were passed on, want %d", successes, accepted)
	}
	if err := pipeline.Close(); err != nil {
		t.Error(err)
	}
}
