// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// A posted request is one that a receiver of callbacks got.
type posted struct {
	header     http.Header
	body       []byte
	completion api.Completion
}

// listener receives callbacks, and answers as it is told.
type listener struct {
	answer func(n int, w http.ResponseWriter) // n counts from 1; nil: 200

	mu  sync.Mutex
	got []posted
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	is := posted{header: r.Header, body: body}
	_ = json.Unmarshal(body, &is.completion)
	l.mu.Lock()
	l.got = append(l.got, is)
	n := len(l.got)
	l.mu.Unlock()
	if l.answer != nil {
		l.answer(n, w)
	}
}

func (l *listener) all() []posted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]posted(nil), l.got...)
}

// oneOff is a batch job that ends with a result once the gate is open.
func oneOff(id, url, script string) *api.Job {
	job := testbed.ShellJob(id, 1, script)
	job.Type = api.JobTypeBatch
	g := job.Groups[0]
	g.Update = nil
	g.Restart = &api.Restart{Attempts: ptr(0)}
	g.Reschedule = &api.Reschedule{Attempts: ptr(0), Unlimited: ptr(false)}
	g.Tasks[0].ResultFile = "local/result"
	job.Callback = &api.JobCallback{URL: url, Secret: "secret", Headers: map[string]string{"X-Token": "token"}}
	return job
}

// callback waits until a job's only callback has a status.
func (m *machine) callback(job, status string) *api.Callback {
	m.t.Helper()
	var found *api.Callback
	m.eventually("the callback of "+job+" is "+status, func(ctx context.Context) error {
		list, _, err := m.Client.Callbacks().OfJob(ctx, job, nil)
		if err != nil {
			return err
		}
		if len(list) != 1 || list[0].Status != status {
			return fmt.Errorf("callbacks: %+v", list)
		}
		found = list[0]
		return nil
	})
	return found
}

// TestACallbackSurvivesKill9 has nobody listen when the job ends, kills server and
// agent, and then somebody who answers 503 first.
func TestACallbackSurvivesKill9(t *testing.T) {
	m := newMachine(t)
	addr, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	m.register(oneOff("import", "http://"+addr+"/done", `echo "12 rows" > $NOMAD_TASK_DIR/result`))
	m.eventually("an attempt was made in vain", func(ctx context.Context) error {
		list, _, err := m.Client.Callbacks().OfJob(ctx, "import", nil)
		if err == nil && (len(list) != 1 || list[0].Attempts == 0) {
			err = fmt.Errorf("callbacks: %+v", list)
		}
		return err
	})
	before := m.callback("import", api.CallbackPending)
	if !strings.Contains(before.LastAnswer, "connection refused") || before.Target.Secret != "" || before.Target.Headers != nil {
		t.Errorf("after the first attempt it is %+v", before)
	}
	m.Kill()

	l := &listener{answer: func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}}
	socket, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(l)
	srv.Listener.Close()
	srv.Listener = socket
	srv.Start()
	defer srv.Close()
	m.start()
	after := m.callback("import", api.CallbackDelivered)

	got := l.all()
	if len(got) != 2 {
		t.Fatalf("%d requests, want one that was answered 503, and another", len(got))
	}
	for i, is := range got {
		mac := hmac.New(sha256.New, []byte("secret"))
		mac.Write(is.body)
		signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		if is.header.Get(api.CallbackIDHeader) != before.ID || is.completion.ID != before.ID || is.header.Get("X-Token") != "token" ||
			is.header.Get(api.CallbackSignatureHeader) != signature {
			t.Errorf("request %d has headers %v", i+1, is.header)
		}
	}
	c := got[1].completion
	if c.State != api.CompletionComplete || c.Failed || len(c.Tasks) != 1 || c.Tasks[0].Result != "12 rows\n" || c.Tasks[0].Task != "task" ||
		c.EndedAt.Before(c.StartedAt) || c.StartedAt.Before(c.SubmittedAt) {
		t.Errorf("told was %s", got[1].body)
	}
	if after.Attempts < before.Attempts+2 {
		t.Errorf("after %d attempts another two made %d", before.Attempts, after.Attempts)
	}
}

// TestHowCallbacksEnd is about those that are taken, refused and given up, of jobs
// that end well, badly and by an operator, over http and https.
func TestHowCallbacksEnd(t *testing.T) {
	l := &listener{}
	secure := httptest.NewTLSServer(l)
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", ca)
	elsewhere := &listener{}
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/moved":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	}))
	defer wrong.Close()
	m := newMachine(t)

	m.register(oneOff("fails", secure.URL, "exit 7"))
	delivered := m.callback("fails", api.CallbackDelivered)
	if c := delivered.Completion; c.State != api.CompletionFailed || !strings.Contains(c.FailureReason, "7") || c.Tasks[0].ExitCode == nil || *c.Tasks[0].ExitCode != 7 {
		t.Errorf("told was %+v", c)
	}
	if got := l.all(); len(got) != 1 || got[0].completion.FailureReason != delivered.Completion.FailureReason {
		t.Errorf("over https came %+v", got)
	}

	m.register(oneOff("stopped", wrong.URL+"/gone", "sleep 1000"))
	m.allocations("stopped", "runs", running(1))
	if _, err := m.Client.Jobs().Deregister(t.Context(), "stopped", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	refused := m.callback("stopped", api.CallbackRefused)
	if refused.Attempts != 1 || refused.LastAnswer != "410 Gone" || refused.Completion.State != api.CompletionCancelled {
		t.Errorf("it is %+v, of %+v", refused, refused.Completion)
	}

	for _, path := range []string{"busy", "moved"} {
		job := oneOff(path, wrong.URL+"/"+path, "true")
		job.Callback.GiveUpAfter = ptr(2 * time.Second)
		m.register(job)
		given := m.callback(path, api.CallbackGivenUp)
		if given.Attempts < 2 || given.EndedAt.Before(given.GiveUpAt) {
			t.Errorf("it was given up after %d attempts at %s, want at %s", given.Attempts, given.EndedAt, given.GiveUpAt)
		}
	}
	if n := len(elsewhere.all()); n > 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

// TestOneOffsThatAreNeverRun are not placed in time, or are refused by their node:
// then they have failed, and somebody is told why.
func TestOneOffsThatAreNeverRun(t *testing.T) {
	l := &listener{}
	srv := httptest.NewServer(l)
	defer srv.Close()
	m := newMachine(t)
	huge := oneOff("huge", srv.URL, "true")
	huge.Groups[0].Tasks[0].Resources.MemoryMB = ptr(1 << 30)
	huge.MaxPending = ptr(500 * time.Millisecond)
	m.register(huge)
	c := m.callback("huge", api.CallbackDelivered).Completion
	if !strings.Contains(c.FailureReason, "not placed within max_pending of 500ms") || !strings.Contains(c.FailureReason, "memory") {
		t.Errorf("the reason is %q", c.FailureReason)
	}
	job, _, err := m.Client.Jobs().Get(t.Context(), "huge", nil)
	if err != nil || job.Status != api.JobStatusDead || job.Failure == nil {
		t.Errorf("the job is %+v: %v", job, err)
	}

	stranger := oneOff("stranger", srv.URL, "true")
	stranger.Groups[0].Tasks[0].User = "nobody-has-this-name"
	stranger.MaxRejections = ptr(1)
	m.register(stranger)
	c = m.callback("stranger", api.CallbackDelivered).Completion
	if c.State != api.CompletionFailed || c.Rejections != 2 || !strings.Contains(c.FailureReason, "nodes refused 2 times to run it; the last one: task task: ") {
		t.Errorf("told was %+v", c)
	}
}
