// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

func newFetcher(t *testing.T, c Config) *Fetcher {
	t.Helper()
	c.Dir = filepath.Join(t.TempDir(), "artifacts")
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// place fetches into a new directory, which it returns.
func place(t *testing.T, f *Fetcher, a *api.Artifact) (string, error) {
	t.Helper()
	dir := t.TempDir()
	in, err := beneath.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return dir, f.Place(t.Context(), a, Target{Dir: in})
}

// content reads a file below dir.
func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A server serves files, and counts its requests.
type server struct {
	*httptest.Server
	requests atomic.Int64
}

func serve(t *testing.T, files map[string][]byte) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		b, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	}))
	t.Cleanup(s.Close)
	return s
}

// tarOf makes an archive; a nil content is a directory.
func tarOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		body := h.PAXRecords["body"]
		h.PAXRecords = nil
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Size == 0 {
			h.Size = int64(len(body))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(name, body string) tar.Header {
	return tar.Header{Name: name, PAXRecords: map[string]string{"body": body}}
}

func gz(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sum(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

func TestFetchUnpacksAnArchive(t *testing.T) {
	archive := gz(t, tarOf(t, tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, tar.Header{Name: "bin/app", Mode: 0o755, PAXRecords: map[string]string{"body": "program"}},
		tar.Header{Name: "current", Typeflag: tar.TypeSymlink, Linkname: "bin/app"}, tar.Header{Name: "again", Typeflag: tar.TypeLink, Linkname: "bin/app"}))
	s := serve(t, map[string][]byte{"/app.tar.gz": archive})
	dir, err := place(t, newFetcher(t, Config{}), &api.Artifact{Source: s.URL + "/app.tar.gz", Options: map[string]string{"checksum": sum(archive)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/app", "current", "again"} {
		if got := content(t, dir, name); got != "program" {
			t.Errorf("%s contains %q", name, got)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "bin/app")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program has mode %v, %v", info.Mode(), err)
	}
}

func TestFetchPlacesAPlainFile(t *testing.T) {
	s := serve(t, map[string][]byte{"/app.tar.gz": []byte("not unpacked")})
	f := newFetcher(t, Config{})
	for want, a := range map[string]*api.Artifact{
		"app.tar.gz": {Source: s.URL + "/app.tar.gz", Options: map[string]string{"archive": "false"}},
		"other":      {Source: s.URL + "/app.tar.gz", Options: map[string]string{"archive": "0", "filename": "other"}},
	} {
		dir, err := place(t, f, a)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, dir, want); got != "not unpacked" {
			t.Errorf("%s contains %q", want, got)
		}
	}
}

func TestOneFetchServesAllWithAChecksum(t *testing.T) {
	body := []byte("shared")
	s := serve(t, map[string][]byte{"/x": body})
	f := newFetcher(t, Config{})
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			dir, err := place(t, f, &api.Artifact{Source: s.URL + "/x", Options: map[string]string{"checksum": sum(body)}})
			if err != nil {
				t.Error(err)
				return
			}
			// A task that changes its copy changes no other.
			if got := content(t, dir, "x"); got != "shared" {
				t.Errorf("a task got %q", got)
			}
			if err := os.WriteFile(filepath.Join(dir, "x"), []byte("changed"), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := s.requests.Load(); n != 1 {
		t.Errorf("the server got %d requests, want 1", n)
	}
}

func TestFailuresSayWhatToCheck(t *testing.T) {
	s := serve(t, map[string][]byte{"/x": []byte("x"), "/broken.zip": []byte("no zip"), "/sums": []byte("d41d8cd98f00b204e9800998ecf8427e  y\n")})
	f := newFetcher(t, Config{})
	secret := strings.Replace(s.URL, "http://", "http://user:hunter2@", 1)
	for _, c := range []struct {
		source  string
		options map[string]string
		want    []string
		again   bool
	}{
		{secret + "/missing?token=hunter2", nil, []string{"404", "check that", "/missing"}, false},
		{s.URL + "/x", map[string]string{"checksum": "md5:d41d8cd98f00b204e9800998ecf8427e"}, []string{"md5 of the file is 9dd4e461268c8034f5c8564e155c67a6"}, false},
		{s.URL + "/x", map[string]string{"checksum": "file:" + s.URL + "/sums"}, []string{"no line for x"}, false},
		{s.URL + "/broken.zip", nil, []string{"unpack the zip archive"}, true},
		{"http://127.0.0.1:1/x", nil, []string{"connection refused", "check that the node can reach"}, true},
		{"http://nowhere.invalid/x", nil, []string{"nowhere.invalid", "name servers"}, false},
	} {
		_, err := place(t, f, &api.Artifact{Source: c.source, Options: c.options})
		var failure *Failure
		if !errors.As(err, &failure) {
			t.Errorf("%s: the error is %v", c.source, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not contain %q", c.source, err, want)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a secret: %q", c.source, err)
		}
		_ = c.again
	}
}

func TestCanceledFetchEndsItsProcess(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(gone)
	}))
	defer s.Close()
	f := newFetcher(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, _, err := f.Get(ctx, &api.Artifact{Source: s.URL + "/x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	<-gone
}
