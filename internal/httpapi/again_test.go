// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/server/replica"
)

// TestAWriteToALeaderThatLosesItsLeadership lets a server find out during a write that it no
// longer leads.
func TestAWriteToALeaderThatLosesItsLeadership(t *testing.T) {
	for name, test := range map[string]struct {
		method   string
		header   string // hops
		body     string
		leads    bool // after the first attempt; otherwise another server does
		status   int
		answer   string
		attempts int64
	}{
		"another server leads":         {method: http.MethodPut, body: "one", status: http.StatusOK, answer: "did one", attempts: 1},
		"it leads again":               {method: http.MethodPut, body: "one", leads: true, status: http.StatusOK, answer: "did it: one", attempts: 3},
		"a server forwarded the write": {method: http.MethodPut, header: "server by s3", body: "one", status: http.StatusServiceUnavailable, answer: "not the leader", attempts: 1},
		"the body is too large":        {method: http.MethodPut, body: strings.Repeat("x", defaultBodyLimit+1), status: http.StatusServiceUnavailable, answer: "not the leader", attempts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			var done journal
			var attempts atomic.Int64
			var known atomic.Pointer[machine]
			other := f.server("s2", always, nil, done.serve)
			m := f.server("s1", nil, at(&known), nil)
			m.leads = func() bool { return attempts.Load() == 0 || test.leads }
			known.Store(other)
			rt := &route{Method: test.method, Capability: SubmitJob, serve: func(c *call) error {
				n := attempts.Add(1)
				body, err := io.ReadAll(c.r.Body)
				if err != nil {
					return err
				}
				if n < 3 {
					return replica.ErrNotLeading
				}
				_, err = io.WriteString(c.w, "did it: "+string(body))
				return err
			}}
			r := httptest.NewRequestWithContext(t.Context(), test.method, "/service/x", strings.NewReader(test.body))
			if test.header != "" {
				r.Header.Set(forwardedHeader, test.header)
			}
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.Operator}))
			w := httptest.NewRecorder()
			m.dispatch(w, r, rt)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.answer) {
				t.Errorf("got %d %.200s", w.Code, w.Body)
			}
			if told := w.Header().Get(notLeaderHeader) != ""; told != (test.status == http.StatusServiceUnavailable) {
				t.Errorf("the answer says that the server does not lead: %v", told)
			}
			if n := attempts.Load(); n != test.attempts {
				t.Errorf("%d attempts", n)
			}
		})
	}
}
