// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// answering is a transport without a network.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(q *http.Request) (*http.Response, error) { return a(q) }

func status(code int, fields ...string) answering {
	return func(q *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(endless{}), Request: q}
		for i := 0; i < len(fields); i += 2 {
			resp.Header.Set(fields[i], fields[i+1])
		}
		return resp, nil
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestTheStatusOfAGateDecides(t *testing.T) {
	fails := func(err error) answering {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	for name, c := range map[string]struct {
		answer answering
		want   lifecycle.CheckResult
	}{
		"passes":        {status(200), lifecycle.CheckResult{Outcome: lifecycle.Passed, Text: "check smoke: ci.test answered 200 OK"}},
		"another 2xx":   {status(204), lifecycle.CheckResult{Text: "check smoke: ci.test answered 204 No Content"}},
		"moved":         {status(302, "Location", "http://other.test/"), lifecycle.CheckResult{Text: "check smoke: ci.test answered 302 Found"}},
		"below 400":     {status(399), lifecycle.CheckResult{Text: "check smoke: ci.test answered 399 "}},
		"fails":         {status(400), lifecycle.CheckResult{Outcome: lifecycle.Failed, Text: "check smoke: ci.test answered 400 Bad Request"}},
		"the last one":  {status(499), lifecycle.CheckResult{Outcome: lifecycle.Failed, Text: "check smoke: ci.test answered 499 "}},
		"its own error": {status(500), lifecycle.CheckResult{Text: "check smoke: ci.test answered 500 Internal Server Error"}},
		"no answer":     {fails(errors.New("connection \x1b[31mrefused")), lifecycle.CheckResult{Text: "check smoke: ci.test gave no answer: connection refused"}},
		"too late":      {fails(context.DeadlineExceeded), lifecycle.CheckResult{Text: "check smoke: ci.test gave no answer: timed out"}},
	} {
		asked := 0
		t.Run(name, func(t *testing.T) {
			transport := answering(func(q *http.Request) (*http.Response, error) {
				if asked++; q.URL.Host != "ci.test" {
					t.Errorf("%s was asked", q.URL.Host)
				}
				return c.answer(q)
			})
			check := &api.ShiftCheck{Name: "smoke", HTTP: "http://ann:secret@ci.test/gate?token=secret"}
			got := New(t.Context(), transport).request(check, &api.Shift{ID: "sh"})
			if strings.Contains(got.Text, "secret") {
				t.Errorf("the text shows a secret: %s", got.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || asked != 1 {
				t.Errorf("asked %d times (-want +got):\n%s", asked, diff)
			}
		})
	}
}

func TestAGateLearnsAboutTheShift(t *testing.T) {
	var got http.Header
	transport := answering(func(q *http.Request) (*http.Response, error) {
		got = q.Header
		return status(200)(q)
	})
	s := &api.Shift{ID: "sh", Namespace: "dev", Unit: "web", From: "web--1-0-0--a", To: "web--1-1-0--b", Share: 0.25}
	New(t.Context(), transport).request(&api.ShiftCheck{Name: "smoke", HTTP: "http://ci.test/"}, s)
	want := http.Header{
		"User-Agent": {"reeve"}, "Reeve-Shift": {"sh"}, "Reeve-Namespace": {"dev"}, "Reeve-Unit": {"web"}, "Reeve-From": {"web--1-0-0--a"},
		"Reeve-To": {"web--1-1-0--b"}, "Reeve-Share": {"0.25"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestAnAnswerCountsInOneInterval(t *testing.T) {
	for _, c := range []struct {
		outcome lifecycle.Outcome
		again   bool
	}{{lifecycle.Passed, false}, {lifecycle.Failed, false}, {lifecycle.Inconclusive, true}} {
		g := &gate{fresh: true, result: lifecycle.CheckResult{Outcome: c.outcome}}
		if _, due := g.take(); !due {
			t.Errorf("a new answer (%v) does not count", c.outcome)
		}
		if _, due := g.take(); due != c.again {
			t.Errorf("the same answer (%v) counts in the next interval: %v, want %v", c.outcome, due, c.again)
		}
	}
}
