// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// Bounds of the leader's answers to another server.
const (
	maxCallAnswer  = 64 << 20
	maxLeaderError = 4 << 10
)

// leaderCalls returns the function by which this server calls the routes of the leader for
// servers. known is this server, once it exists.
func (a *Agent) leaderCalls(known *atomic.Pointer[server.Server]) func(context.Context, string, []byte) ([]byte, error) {
	cl := &http.Client{Transport: a.memberTransport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, path string, body []byte) ([]byte, error) {
		s := known.Load()
		if s == nil {
			return nil, errors.New("this server starts")
		}
		leader := s.Leader()
		if leader == "" || s.IsLeader() {
			return nil, errors.New("no other server is known to lead")
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, "https://"+leader+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		resp, err := cl.Do(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, maxLeaderError))
			return nil, fmt.Errorf("the leader at %s answers %d: %s", leader, resp.StatusCode, api.Printable(strings.TrimSpace(string(text)), 500))
		}
		answer, err := io.ReadAll(io.LimitReader(resp.Body, maxCallAnswer+1))
		if err == nil && len(answer) > maxCallAnswer {
			err = fmt.Errorf("the answer of the leader at %s has more than %d bytes", leader, maxCallAnswer)
		}
		return answer, err
	}
}
