// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// refusing is a client of a server that answers each request with the next of its responses, and the last
// one for ever. bodies contains what the server received.
func refusing(t *testing.T, bodies *[]string, responses ...string) *client.Client {
	t.Helper()
	return newClient(t, client.Config{Address: "http://server:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			r, err := http.ReadRequest(bufio.NewReader(theirs))
			if err != nil {
				return
			}
			body, _ := io.ReadAll(r.Body)
			response := responses[min(len(*bodies), len(responses)-1)]
			*bodies = append(*bodies, string(body))
			io.WriteString(theirs, response)
		}()
		return ours, nil
	}})
}

func response(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d x\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

const parsed = `{"ID": "web"}`

func tooMany(after string) string {
	return response(429, "Retry-After: "+after+"\r\nContent-Type: application/json\r\n", `{"Code": "rate_limited", "Message": "token 1f3c9a2e parses more than 50 times a second"}`)
}

func TestARefusedRequestWaitsForItsTurn(t *testing.T) {
	for _, c := range []struct {
		what      string
		responses []string
		sent      int
		waits     time.Duration // at least; a quarter more at most
		fails     bool
	}{
		{"no limit", []string{response(200, "", parsed)}, 1, 0, false},
		{"one refusal", []string{tooMany("2"), response(200, "", parsed)}, 2, 2 * time.Second, false},
		{"a server that refuses all", []string{tooMany("1")}, 4, 3 * time.Second, true},
		{"a long wait", []string{tooMany("6")}, 1, 0, true},
		{"a wait that is no number", []string{tooMany("soon")}, 1, 0, true},
		{"a negative wait", []string{tooMany("-1")}, 1, 0, true},
		{"a wait beyond all numbers", []string{tooMany("99999999999999999999999")}, 1, 0, true},
		{"the status without a wait", []string{response(429, "", "unhealthy")}, 1, 0, true},
		{"another failure with the header", []string{response(503, "Retry-After: 1\r\n", "")}, 1, 0, true},
	} {
		bubble.Test(t, func(t *testing.T) {
			var bodies []string
			cl, began := refusing(t, &bodies, c.responses...), time.Now()
			_, err := cl.Jobs().Parse(t.Context(), &api.ParseJobRequest{JobHCL: "job web"})
			waited := time.Since(began)
			if (err != nil) != c.fails || len(bodies) != c.sent || waited < c.waits || waited > c.waits+c.waits/4+time.Millisecond {
				t.Errorf("%s: %d requests in %s: %v", c.what, len(bodies), waited, err)
			}
			for _, body := range bodies {
				if body != bodies[0] || !strings.Contains(body, "job web") {
					t.Errorf("%s: a repeated request has the body %q", c.what, body)
				}
			}
			if c.what == "a long wait" && (api.CodeOf(err) != api.CodeRateLimited || !strings.Contains(err.Error(), "more than 50 times")) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAWaitEndsWithItsCaller(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var bodies []string
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		cl, began := refusing(t, &bodies, tooMany("1"), tooMany("2")), time.Now()
		_, err := cl.Jobs().Parse(ctx, &api.ParseJobRequest{JobHCL: "job web"})
		if waited := time.Since(began); api.CodeOf(err) != api.CodeRateLimited || waited > 1250*time.Millisecond || len(bodies) != 2 {
			t.Errorf("%d requests in %s: %v", len(bodies), waited, err)
		}
	})
}
