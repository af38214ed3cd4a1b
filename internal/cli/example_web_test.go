// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// exampleServer starts the examples' web server with an environment.
func exampleServer(t *testing.T, callee string, env map[string]string) string {
	t.Helper()
	c := &cli{Process: Process{Stdout: io.Discard, Now: time.Now, Getenv: func(name string) string { return env[name] }}}
	s := httptest.NewServer(c.exampleHandler(callee, time.Time{}))
	t.Cleanup(s.Close)
	return s.URL
}

func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestTheExampleCallsAnotherService(t *testing.T) {
	inventory := exampleServer(t, "", map[string]string{"NOMAD_JOB_NAME": "inventory", "VERSION": "1.0.0"})
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 2 * exampleRoom / 8 {
			io.WriteString(w, "aaaaaaaa")
		}
	}))
	defer endless.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	own := "Hello from shop, instance 0, version 2.4.0\n"
	for name, c := range map[string]struct {
		callee string
		status int
		body   string
	}{
		"no call":  {"", 200, own},
		"answer":   {inventory, 200, own + "Hello from inventory, instance 0, version 1.0.0\n"},
		"large":    {endless.URL, 200, own + strings.Repeat("a", exampleRoom)},
		"refused":  {inventory + "/missing", 502, "status 404: "},
		"gone":     {gone.URL, 502, "connection refused"},
		"no URL":   {"${REEVE_DEP_INVENTORY_URL}", 502, "call ${REEVE_DEP_INVENTORY_URL}: "},
		"no names": {"http://", 502, "no Host"},
	} {
		status, body := fetch(t, exampleServer(t, c.callee, map[string]string{"NOMAD_JOB_NAME": "shop", "VERSION": "2.4.0"}))
		if status != c.status || status == 200 && body != c.body || !strings.Contains(body, c.body) {
			t.Errorf("%s: %d %.200q, want %d %.200q", name, status, body, c.status, c.body)
		}
	}
}

func TestTheExampleIsUnreadyWhileAFileExists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "unready")
	url := exampleServer(t, "", map[string]string{"UNREADY_FILE": file}) + "/healthz"
	for _, exists := range []bool{false, true, false} {
		want := 200
		if exists {
			want = 503
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if status, body := fetch(t, url); status != want {
			t.Errorf("with the file: %v: status %d %q, want %d", exists, status, body, want)
		}
	}
}
