// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

const secret = "Bearer the-secret-of-the-collector"

// newHTTP returns a receiver that trusts a server and sends the secret.
func newHTTP(t *testing.T, web *httptest.Server, path string, change ...func(*HTTP)) Receiver {
	t.Helper()
	dir := t.TempDir()
	c := HTTP{URL: web.URL + path, HeaderFile: filepath.Join(dir, "headers"), Server: "s1", Timeout: 200 * time.Millisecond}
	if err := os.WriteFile(c.HeaderFile, []byte("\nAuthorization: "+secret+"\nX-Tenant:  a b \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if web.Certificate() != nil {
		c.CAFile = filepath.Join(dir, "ca.pem")
		if err := os.WriteFile(c.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range change {
		f(&c)
	}
	r, err := NewHTTP(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestACollectorThatFailsGetsAllRecords sends records to a collector that stalls, answers errors, closes
// connections, and comes back.
func TestACollectorThatFailsGetsAllRecords(t *testing.T) {
	b := newBench(t, 1<<20)
	var got pile
	var mode, requests, redirected atomic.Int64
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected.Add(1) }))
	defer elsewhere.Close()
	stop := make(chan struct{})
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != secret || r.Header.Get("X-Tenant") != "a b" || r.Header.Get("X-Reeve-Server") != "s1" || r.Method != http.MethodPost {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch mode.Load() {
		case 0:
			got.take(t, body)
			if n, _ := strconv.Atoi(r.Header.Get("X-Reeve-Audit-Records")); n != strings.Count(string(body), "\n") {
				t.Errorf("%d records announced of %d", n, strings.Count(string(body), "\n"))
			}
		case 1: // stalls
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		case 2:
			http.Error(w, "broken", http.StatusInternalServerError)
		case 3: // closes, after it took the records
			got.take(t, body)
			panic(http.ErrAbortHandler)
		case 4:
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case 5:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer web.Close()
	defer close(stop)
	s := b.start(newHTTP(t, web, "/records?key=the-key"))
	defer s.Close(t.Context())
	b.add(t, 20)
	for _, m := range []int64{1, 2, 3, 4, 5, 2, 3} {
		wait.Until(t, "all records arrived", func() bool { return got.has(b.added) })
		mode.Store(m)
		before, failures := requests.Load(), s.Status().Failures
		b.add(t, 20)
		wait.Until(t, "two attempts", func() bool { return requests.Load() >= before+2 && s.Status().Failures >= failures+1 })
		st := s.Status()
		if strings.Contains(st.Error+st.Target, "key") || strings.Contains(st.Error, "secret") || st.Target != web.URL+"/records" {
			t.Errorf("the status of mode %d is %+v", m, st)
		}
		mode.Store(0)
	}
	wait.Until(t, "all records arrived", func() bool { return got.has(b.added) && s.Status().Error == "" })
	if redirected.Load() != 0 {
		t.Errorf("%d redirects were followed", redirected.Load())
	}
	if text := b.logged.String(); strings.Contains(text, "the-key") || strings.Contains(text, "the-secret") {
		t.Errorf("the log contains a secret: %s", text)
	}
}

func TestACollectorWithoutATrustedCertificateGetsNothing(t *testing.T) {
	b := newBench(t, 1<<20)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request") }))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	defer web.Close()
	s := b.start(newHTTP(t, web, "/", func(c *HTTP) { c.CAFile = "" }))
	defer s.Close(t.Context())
	b.add(t, 1)
	wait.Until(t, "a failure", func() bool { return strings.Contains(s.Status().Error, "certificate") })
}

func TestCollectorsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		HTTP
		says string
	}{
		"no url":                   {HTTP{}, "https://HOST/PATH"},
		"another scheme":           {HTTP{URL: "ftp://x/"}, "https://HOST/PATH"},
		"a path":                   {HTTP{URL: "/records"}, "https://HOST/PATH"},
		"a user in the url":        {HTTP{URL: "https://u:p@x/"}, "header_file"},
		"clear text":               {HTTP{URL: "http://10.0.0.1/"}, "in clear"},
		"a name like loopback":     {HTTP{URL: "http://localhost.evil.example/"}, "in clear"},
		"a missing authority":      {HTTP{URL: "https://x/", CAFile: filepath.Join(dir, "none")}, "ca_file"},
		"an authority without PEM": {HTTP{URL: "https://x/", CAFile: empty}, "no certificate"},
	} {
		if _, err := NewHTTP(c.HTTP); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v; want %q", what, err, c.says)
		}
	}
	for _, address := range []string{"http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost/", "https://siem.example.com/x?y=z"} {
		if _, err := NewHTTP(HTTP{URL: address}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestHeaderFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headers")
	c := &collector{HTTP: HTTP{HeaderFile: path}}
	for text, says := range map[string]string{
		"Authorization secret-1":              ":1: write each line as NAME: VALUE",
		"A: b\n\nBad Name: secret-1":          ":3: write",
		"A: secret-1\x01":                     ":1: write",
		": secret-1":                          ":1: write",
		strings.Repeat("A: secret-1\n", 5000): "more than",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.header(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret-1") {
			t.Errorf("%.40q: %v; want %q without the secret", text, err, says)
		}
	}
	if err := os.WriteFile(path, []byte("A: b\r\nA: c\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.header(); err == nil || !strings.Contains(err.Error(), "mode 0644") {
		t.Errorf("a file that all may read: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if h, err := c.header(); err != nil || len(h["A"]) != 2 || h["A"][0] != "b" {
		t.Errorf("%v, %v", h, err)
	}
}
