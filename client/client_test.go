// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, c client.Config) *client.Client {
	t.Helper()
	cl, err := client.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// answering is a server whose every answer is the handler's.
func answering(t *testing.T, f http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return newClient(t, client.Config{Address: s.URL})
}

func TestAddresses(t *testing.T) {
	for _, name := range []string{"REEVE_ADDR", "NOMAD_ADDR", "REEVE_NAMESPACE", "NOMAD_NAMESPACE"} {
		t.Setenv(name, "")
	}
	for address, want := range map[string]string{
		"":                        "http://127.0.0.1:4646",
		"http://10.0.0.1:4646":    "http://10.0.0.1:4646",
		"https://reeve.example/":  "https://reeve.example",
		"10.0.0.1:4646":           "http://10.0.0.1:4646",
		"http://proxy/reeve/?x=1": "http://proxy/reeve",
	} {
		if got := newClient(t, client.Config{Address: address}).Address(); got != want {
			t.Errorf("address %q is used as %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"ftp://x", "http://", "http://[::1", "://"} {
		if _, err := client.New(client.Config{Address: address}); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("address %q: got %v, want it refused", address, err)
		}
	}
	t.Setenv("NOMAD_ADDR", "http://nomad:1")
	if got := newClient(t, client.Config{}).Address(); got != "http://nomad:1" {
		t.Errorf("with NOMAD_ADDR the address is %q", got)
	}
	t.Setenv("REEVE_ADDR", "reeve:2")
	if got := newClient(t, client.Config{}).Address(); got != "http://reeve:2" {
		t.Errorf("with REEVE_ADDR the address is %q", got)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `"here"`) }))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	c := newClient(t, client.Config{Address: "unix://" + path})
	if leader, err := c.Status().Leader(t.Context()); err != nil || leader != "here" {
		t.Errorf("got %q, %v", leader, err)
	}
	c.Close()
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, err = newClient(t, client.Config{Address: address}).Status().Leader(t.Context())
	want := "is an agent running at " + address + "? start one with `reeve dev`"
	if api.CodeOf(err) != api.CodeUnavailable || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestErrorsKeepTheirCode(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   api.Error
	}{
		{400, `{"Code": "invalid", "Message": "two things", "Detail": ["a", "b"]}`, api.Error{Code: api.CodeInvalid, Message: "two things", Detail: []string{"a", "b"}}},
		{404, "job not found", api.Error{Code: api.CodeNotFound, Message: "job not found"}},
		{403, "Permission denied", api.Error{Code: api.CodeForbidden, Message: "Permission denied"}},
		{409, "moved", api.Error{Code: api.CodeConflict, Message: "moved"}},
		{413, "big", api.Error{Code: api.CodeTooLarge, Message: "big"}},
		{429, "slow down", api.Error{Code: api.CodeUnavailable, Message: "slow down"}},
		{500, "", api.Error{Code: api.CodeInternal, Message: "GET /v1/job/web answered 500 Internal Server Error"}},
		{503, "no leader", api.Error{Code: api.CodeUnavailable, Message: "no leader"}},
	} {
		c := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.body)
		})
		_, _, err := c.Jobs().Get(t.Context(), "web", nil)
		var got *api.Error
		if !errors.As(err, &got) {
			t.Errorf("%d %q: got %v, which is no api.Error", tc.status, tc.body, err)
			continue
		}
		if diff := cmp.Diff(tc.want, *got); diff != "" {
			t.Errorf("%d %q (-want +got):\n%s", tc.status, tc.body, diff)
		}
	}
	c := answering(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") })
	if _, _, err := c.Jobs().Get(t.Context(), "web", nil); api.CodeOf(err) != api.CodeInternal || !strings.Contains(err.Error(), "/v1/job/web") {
		t.Errorf("an answer that is no JSON: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Jobs().Get(ctx, "web", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: got %v, want context.Canceled", err)
	}
}

func TestRequestsSayWhatIsAsked(t *testing.T) {
	type asked struct {
		Method, Path string
		Query        url.Values
		Token        string
	}
	var got asked
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = asked{r.Method, r.URL.EscapedPath(), r.URL.Query(), r.Header.Get("X-Nomad-Token")}
		w.Header().Set("X-Nomad-Index", "42")
		w.Header().Set("X-Nomad-NextToken", "here")
		w.Header().Set("X-Nomad-KnownLeader", "true")
		w.Header().Set("X-Nomad-LastContact", "7")
		io.WriteString(w, "null")
	}))
	defer s.Close()
	c := newClient(t, client.Config{Address: s.URL, Token: "t", Namespace: "ns"})
	_, meta, err := c.Jobs().Allocations(t.Context(), "a/b c", true, &client.QueryOptions{
		Index: 41, Wait: 90 * time.Second, Prefix: "p", Filter: "x == 1", PerPage: 5, NextToken: "n", Reverse: true,
		Params: url.Values{"resources": {"true"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := asked{"GET", "/v1/job/a%2Fb%20c/allocations", url.Values{
		"all": {"true"}, "resources": {"true"}, "index": {"41"}, "wait": {"90000ms"}, "prefix": {"p"}, "filter": {"x == 1"},
		"per_page": {"5"}, "next_token": {"n"}, "reverse": {"true"}, "namespace": {"ns"},
	}, "t"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&client.QueryMeta{Index: 42, NextToken: "here", KnownLeader: true, LastContact: 7 * time.Millisecond}, meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	if _, err := c.WithNamespace("other").Jobs().Deregister(t.Context(), "web", client.DeregisterOptions{Purge: true, EvalPriority: 9}); err != nil {
		t.Fatal(err)
	}
	want = asked{"DELETE", "/v1/job/web", url.Values{"purge": {"true"}, "eval_priority": {"9"}, "namespace": {"other"}}, "t"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestHealthOfAnAgentThatDoesNotWork(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, `{"server": {"ok": false, "message": "no leader is known"}}`)
	})
	health, err := c.Status().Health(t.Context())
	if err != nil || health.Server == nil || health.Server.Ok || health.Server.Message != "no leader is known" {
		t.Errorf("got %+v, %v", health, err)
	}
}

// pipe answers every request with what is written to it, in a bubble without a
// network.
type pipe chan *io.PipeWriter

func (p pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	reader, writer := io.Pipe()
	p <- writer
	context.AfterFunc(r.Context(), func() { reader.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Body: reader, Request: r, Header: http.Header{}}, nil
}

func TestASilentStreamIsTakenForLost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := make(pipe, 1)
		c, err := client.New(client.Config{Address: "http://x", HTTPClient: &http.Client{Transport: p}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var messages int
		var last error
		go func() {
			w := <-p
			time.Sleep(time.Second)
			w.Write([]byte("{\"Complete\": true}\n"))
			for range 3 { // signs of life keep it
				time.Sleep(20 * time.Second)
				w.Write([]byte("\n"))
			}
		}()
		for m, err := range c.Nodes().Stream(t.Context(), "n", api.Position{}) {
			if err != nil {
				last = err
				break
			}
			if !m.Complete {
				t.Errorf("got %+v", m)
			}
			messages++
		}
		if messages != 1 || api.CodeOf(last) != api.CodeUnavailable || !strings.Contains(last.Error(), "said nothing for 30s") {
			t.Errorf("got %d messages, then %v", messages, last)
		}
		if took := time.Since(start); took != 91*time.Second {
			t.Errorf("it ended after %v, want 30 s after the last sign of life, at 91 s", took)
		}
	})
}

func TestStreamsEnd(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"Index": 1, "Events": [{"Topic": "Job", "Key": "web"}]}`+"\n{}\n")
		if r.URL.Query().Get("index") == "2" {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	for index, wantErr := range map[uint64]bool{0: false, 2: true} {
		n, failed := 0, false
		for batch, err := range c.Events().Stream(t.Context(), client.EventOptions{Index: index}) {
			if err != nil {
				failed = true
				continue
			}
			n += len(batch.Events)
		}
		if n != 1 || failed != wantErr {
			t.Errorf("from %d: got %d events, failed %v; want 1, %v", index, n, failed, wantErr)
		}
	}
}

// TestFollowGoesOnWhereItWas breaks the stream at every place there is, and
// looks at what is asked for the next time.
func TestFollowGoesOnWhereItWas(t *testing.T) {
	var asked []string
	answers := []string{
		`{"Index":7,"Missed":{"From":3,"To":7}}` + "\n" + `{"Index":7,"Snapshot":"begin"}` + "\n",
		`{"Index":8,"Snapshot":"begin"}` + "\n" + `{"Index":8,"Snapshot":"part","Events":[{"Topic":"Job","Key":"web"}]}` + "\n" + `{"Index":8,"Snapshot":"end"}` + "\n",
		`{"Index":9,"Events":[{"Topic":"Job","Key":"web","Index":9}]}` + "\n" + `{"Index":12}` + "\n",
	}
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("index")+" "+q.Get("timeline"))
		if len(asked) > len(answers) {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "gone")
			return
		}
		w.Header().Set("X-Reeve-Timeline", "c1")
		io.WriteString(w, answers[len(asked)-1])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	got, broke := []string(nil), 0
	var last error
	o := client.EventOptions{Index: 3, Snapshot: true, OnBreak: func(error) { broke++ }}
	for b, err := range c.Events().Follow(t.Context(), o) {
		if last = err; err != nil {
			continue
		}
		got = append(got, fmt.Sprint(b.Index, b.Snapshot, len(b.Events), b.Missed != nil))
	}
	if want := []string{"3 ", " c1", "9 c1", "13 c1"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if broke != 3 || len(got) != 6 || api.CodeOf(last) != api.CodeNotFound {
		t.Errorf("%d messages, %d breaks, then %v; want 6, 3, not found", len(got), broke, last)
	}
}

func TestServersAreVerifiedByTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `"10.0.0.1:4646"`) }))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for _, c := range []struct {
		config *tls.Config
		ok     bool
	}{{&tls.Config{RootCAs: roots}, true}, {nil, false}} {
		cl := newClient(t, client.Config{Address: server.URL, TLS: c.config})
		if _, err := cl.Status().Leader(t.Context()); (err == nil) != c.ok {
			t.Errorf("with %v: %v", c.config, err)
		}
	}
}
