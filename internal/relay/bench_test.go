// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// BenchmarkForwarded compares a write of 1,200 bytes on a relay with one over HTTP/2, both over
// TLS. Sixteen callers per processor write at the same time. The time includes both sides.
func BenchmarkForwarded(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1200)
	web := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	newRequest := func() *http.Request {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPut, web.URL+"/v1/jobs", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	measure := func(b *testing.B, send func() (*http.Response, error)) {
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				resp, err := send()
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	b.Run("http2", func(b *testing.B) {
		measure(b, func() (*http.Response, error) { return web.Client().Transport.RoundTrip(newRequest()) })
	})
	b.Run("relay", func(b *testing.B) {
		config := &tls.Config{Certificates: web.TLS.Certificates, InsecureSkipVerify: true}
		l, err := tls.Listen("tcp", "127.0.0.1:0", config)
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			NewServer(http.HandlerFunc(echo), nil).Run(ctx, l)
		}()
		c := NewClient(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", l.Addr().String())
		})
		defer func() {
			c.Close()
			stop()
			<-done
		}()
		send := func() (*http.Response, error) {
			resp, _, err := c.RoundTrip(newRequest(), "leader", body)
			return resp, err
		}
		wait.Until(b, "the client has a connection", func() bool {
			_, err := send()
			return !errors.Is(err, ErrNoLink)
		})
		b.ResetTimer()
		measure(b, send)
	})
}
