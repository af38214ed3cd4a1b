// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// durable runs a server with a log on disk, and its API, in this process until
// the benchmark ends.
func durable(b *testing.B, cfg server.Config) (*server.Server, *client.Client) {
	b.Helper()
	cfg.DataDir, cfg.Logger = b.TempDir(), slog.New(slog.DiscardHandler)
	s, err := server.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	h := New(Config{Server: s})
	web := httptest.NewServer(h)
	c, err := client.New(client.Config{Address: web.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		c.Close()
		h.Close()
		web.Close()
		s.Shutdown(context.Background())
	})
	return s, c
}

// BenchmarkRegisterOverHTTP is 64 clients that register jobs with a server in
// the same process.
func BenchmarkRegisterOverHTTP(b *testing.B) {
	_, c := durable(b, server.Config{})
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Jobs().Register(b.Context(), &api.RegisterJobRequest{Job: testJob(fmt.Sprint("job-", n.Add(1)))}); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkRegisterRequest is one registration without network and disk.
func BenchmarkRegisterRequest(b *testing.B) {
	h := New(Config{Server: newIdleServer(b).Server})
	body := samples["PUT /v1/jobs"]
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/v1/jobs", strings.NewReader(body)))
	}
}

// BenchmarkListJobs is one page of a hundred of ten thousand jobs.
func BenchmarkListJobs(b *testing.B) {
	srv := newIdleServer(b)
	for i := range 10_000 {
		srv.Store().Apply(uint64(i+1), []state.Command{&state.RegisterJob{Job: storedJob(fmt.Sprintf("job-%05d", i))}})
	}
	h := New(Config{Server: srv.Server})
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/jobs?per_page=100", nil))
	}
}
