// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// BenchmarkForward is a request and its answer through the router, by HTTP and
// by TCP, with a client and an instance that make no garbage of their own.
func BenchmarkForward(b *testing.B) {
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				room := make([]byte, 4096)
				for {
					if _, err := nc.Read(room); err != nil {
						return
					}
					nc.Write(answer)
				}
			}()
		}
	}()
	r, err := New(Config{HTTPAddr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	r.Apply(&api.CatalogUpdate{Index: 1, Complete: true, Entries: []*api.CatalogEntry{{AllocID: "one", Namespace: "default", JobID: "web", Endpoints: []*api.Endpoint{
		{Route: &api.Route{Host: "bench.example"}, Address: l.Addr().String()},
		{Route: &api.Route{Protocol: api.RouteTCP, Listen: port}, Address: l.Addr().String()},
	}}}})
	request := []byte("GET /some/path?query HTTP/1.1\r\nHost: bench.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")
	for name, addr := range map[string]string{"http": r.Addr(), "tcp": fmt.Sprintf("127.0.0.1:%d", port), "direct": l.Addr().String()} {
		b.Run(name, func(b *testing.B) {
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			room := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := nc.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := nc.Read(room); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
