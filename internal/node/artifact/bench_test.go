// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

// BenchmarkThousandAllocations places one artifact of 1 MiB with a checksum for 1,000 allocations that start
// together, with an empty cache. The server must see one request.
func BenchmarkThousandAllocations(b *testing.B) {
	body := []byte(strings.Repeat("x", 1<<20))
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Write(body)
	}))
	defer s.Close()
	a := &api.Artifact{Source: s.URL + "/x", Options: map[string]string{"checksum": sum(body)}}
	for b.Loop() {
		requests.Store(0)
		dir := b.TempDir()
		f, err := New(Config{Dir: filepath.Join(dir, "cache")})
		if err != nil {
			b.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range 1000 {
			wait.Go(func() {
				to := filepath.Join(dir, strconv.Itoa(i))
				if err := os.Mkdir(to, 0o755); err != nil {
					b.Error(err)
					return
				}
				in, err := beneath.Open(to)
				if err != nil {
					b.Error(err)
					return
				}
				defer in.Close()
				if err := f.Place(b.Context(), a, Target{Dir: in}); err != nil {
					b.Error(err)
				}
			})
		}
		wait.Wait()
		f.Close()
		if n := requests.Load(); n != 1 {
			b.Fatalf("the server got %d requests, want 1", n)
		}
	}
}
