// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestIdentitiesAreSignedTogether lets many tasks ask at once: each receives its own token or reason, in
// few requests; one that gives up asks for nothing.
func TestIdentitiesAreSignedTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var sizes []int
		gate := make(chan error)
		s := newSigner(t.Context(), func(_ context.Context, requests []*api.IdentityRequest) (signed []*api.IdentityResponse, err error) {
			if err := <-gate; err != nil {
				return nil, err
			}
			sizes = append(sizes, len(requests))
			for _, r := range requests {
				one := &api.IdentityResponse{Token: "for " + r.Task}
				if strings.HasSuffix(r.Task, "7") {
					one = &api.IdentityResponse{Error: &api.Error{Code: api.CodeConflict, Message: "ended"}}
				}
				signed = append(signed, one)
			}
			return signed, nil
		})
		var wg sync.WaitGroup
		ask := func(ctx context.Context, task, want string) {
			wg.Go(func() {
				signed, err := s.sign(ctx, &api.IdentityRequest{Task: task})
				got := fmt.Sprint(err)
				if err == nil {
					got = signed.Token
				}
				if got != want {
					t.Errorf("%s: %s, want %s", task, got, want)
				}
			})
		}
		const n = 2*api.MaxIdentities + 10
		ask(t.Context(), "first", "for first")
		synctest.Wait()
		for i := range n {
			want := fmt.Sprint("for ", i)
			if i%10 == 7 {
				want = "ended"
			}
			ask(t.Context(), fmt.Sprint(i), want)
		}
		gone, leave := context.WithCancel(t.Context())
		ask(gone, "gone", context.Canceled.Error())
		synctest.Wait()
		leave()
		synctest.Wait()
		for range 4 {
			gate <- nil
			synctest.Wait()
		}
		wg.Wait()
		if want := []int{1, api.MaxIdentities, api.MaxIdentities, 10}; fmt.Sprint(sizes) != fmt.Sprint(want) {
			t.Errorf("the requests had %v identities, want %v", sizes, want)
		}
		ask(t.Context(), "fails", "the servers are away")
		gate <- errors.New("the servers are away")
		ask(t.Context(), "later", "for later")
		gate <- nil
		wg.Wait()
	})
}
