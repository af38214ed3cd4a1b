// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bufio"
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// BenchmarkForwardTLS measures small requests over 64 connections that stay open: over TLS, and
// without TLS through both engines.
func BenchmarkForwardTLS(b *testing.B) {
	ca := testcert.New(b)
	cert, key := ca.Files(b.TempDir(), "web", ca.Issue(time.Now().Add(time.Hour), "bench.example"))
	instance := benchInstance(b, 5)
	config := Config{Engine: EngineStandard, HTTPSAddr: "127.0.0.1:0", Certificates: []certs.Source{{Cert: cert, Key: key}}}
	r, _ := benchRouterOf(b, config, instance)
	fast, _ := benchRouter(b, EngineFast, instance)
	client := &tls.Config{RootCAs: ca.Pool(), ServerName: "bench.example"}
	overTLS := func(addr string) (net.Conn, error) { return tls.Dial("tcp", addr, client) }
	plain := func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) }
	for _, way := range []struct {
		name, addr string
		dial       func(string) (net.Conn, error)
	}{{"tls", r.SecureAddr(), overTLS}, {"standard", r.Addr(), plain}, {"fast", fast, plain}} {
		b.Run(way.name, func(b *testing.B) {
			const clients = 64
			var left atomic.Int64
			left.Store(int64(b.N))
			conns := make([]*benchClient, clients)
			for i := range conns {
				nc, err := way.dial(way.addr)
				if err != nil {
					b.Fatal(err)
				}
				defer nc.Close()
				conns[i] = &benchClient{nc, bufio.NewReader(nc)}
				if err := conns[i].ask(); err != nil {
					b.Fatal(err)
				}
			}
			before := processorTime(b)
			b.ResetTimer()
			ended := make(chan error, clients)
			for _, c := range conns {
				go func() {
					for left.Add(-1) >= 0 {
						if err := c.ask(); err != nil {
							ended <- err
							return
						}
					}
					ended <- nil
				}()
			}
			for range conns {
				if err := <-ended; err != nil {
					b.Error(err)
				}
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op") // with the client's and the instance's share
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
