// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// benchRouter runs a router with one instance of a stack, which is also behind a TCP port.
func benchRouter(tb testing.TB, engine, instance string) (addr, tcp string) {
	tb.Helper()
	r, tcp := benchRouterOf(tb, Config{Engine: engine}, instance)
	return r.Addr(), tcp
}

func benchRouterOf(tb testing.TB, config Config, instance string) (r *Router, tcp string) {
	tb.Helper()
	config.HTTPAddr = "127.0.0.1:0"
	r, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	tb.Cleanup(func() {
		cancel()
		<-done
	})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	r.Apply(&api.CatalogUpdate{Index: 1, Complete: true, Entries: []*api.CatalogEntry{{AllocID: "one", Namespace: "default", JobID: newStack, Endpoints: []*api.Endpoint{
		{Route: &api.Route{Host: "bench.example"}, Address: instance},
		{Route: &api.Route{Protocol: api.RouteTCP, Listen: port}, Address: instance},
	}}}})
	return r, fmt.Sprintf("127.0.0.1:%d", port)
}

// benchInstance is an instance that allocates nothing per request. It responds
// to each head with a body of the given size.
func benchInstance(tb testing.TB, size int) string {
	tb.Helper()
	response := append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "+strconv.Itoa(size)+"\r\n\r\n"), bytes.Repeat([]byte("a"), size)...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
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
					nc.Write(response)
				}
			}()
		}
	}()
	return l.Addr().String()
}

const benchRequest = "GET /some/path?query HTTP/1.1\r\nHost: bench.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n"

// A benchClient sends requests on one connection.
type benchClient struct {
	nc   net.Conn
	read *bufio.Reader
}

func newBenchClient(addr string) (*benchClient, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &benchClient{nc, bufio.NewReaderSize(nc, 64<<10)}, nil
}

// ask sends a request, and reads the response.
func (c *benchClient) ask() error {
	if _, err := io.WriteString(c.nc, benchRequest); err != nil {
		return err
	}
	length := 0
	for first := true; ; first = false {
		line, err := c.read.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")):
			return fmt.Errorf("the response begins with %q", line)
		case len(line) == 2:
			_, err := c.read.Discard(length)
			return err
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
		}
	}
}

// BenchmarkForward measures one connection: through both engines, through a TCP
// route, and directly.
func BenchmarkForward(b *testing.B) {
	for name, size := range map[string]int{"small": 5, "1MB": 1 << 20} {
		instance := benchInstance(b, size)
		addr, tcp := benchRouter(b, EngineFast, instance)
		other, _ := benchRouter(b, EngineStandard, instance)
		for way, addr := range map[string]string{"fast": addr, "standard": other, "tcp": tcp, "direct": instance} {
			b.Run(name+"/"+way, func(b *testing.B) {
				c, err := newBenchClient(addr)
				if err != nil {
					b.Fatal(err)
				}
				defer c.nc.Close()
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := c.ask(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

var comparePairs = flag.Int("compare-engines", 0, "compare the rates of the engines in this many alternating pairs")

// The fast engine stays only as long as it forwards 1.4 times as many small
// requests as the standard one in the same run. A rate on a busy machine proves
// nothing, so the default run compares one short pair without a threshold.
func TestTheFastEngineIsWorthItsParser(t *testing.T) {
	pairs, each := cmp.Or(*comparePairs, 1), 20*time.Millisecond
	if *comparePairs > 0 {
		each = time.Second
	}
	for _, c := range []struct {
		name          string
		size, clients int
		atLeast       float64
	}{{"small requests", 5, 64, 1.4}, {"bodies of 1 MB", 1 << 20, 8, 0}} {
		instance := benchInstance(t, c.size)
		fastAddr, _ := benchRouter(t, EngineFast, instance)
		standardAddr, _ := benchRouter(t, EngineStandard, instance)
		var ratios, costs []float64 // of requests per second, and of processor time per request
		var rates [2][]float64
		for pair := range pairs {
			var got, cost [2]float64
			for i := range got {
				way := (pair + i) % 2
				got[way], cost[way] = rate(t, [2]string{fastAddr, standardAddr}[way], c.clients, each)
				rates[way] = append(rates[way], got[way])
			}
			ratios, costs = append(ratios, got[0]/got[1]), append(costs, cost[1]/cost[0])
		}
		slices.Sort(ratios)
		slices.Sort(costs)
		ratio := ratios[len(ratios)/2]
		for i := range rates {
			slices.Sort(rates[i])
		}
		t.Logf("%s: fast %.0f/s, standard %.0f/s, median ratio %.2f of %.2f; by processor time %.2f of %.2f",
			c.name, rates[0][pairs/2], rates[1][pairs/2], ratio, ratios, costs[pairs/2], costs)
		if *comparePairs > 0 && ratio < c.atLeast {
			t.Errorf("%s: the fast engine is %.2f times as fast as the standard one, want %.2f", c.name, ratio, c.atLeast)
		}
	}
}

// rate returns the requests per second of some clients, and the processor time per
// request of clients, router and instance together. On a busy machine only the
// latter is meaningful.
func rate(t *testing.T, addr string, clients int, d time.Duration) (perSecond, cost float64) {
	t.Helper()
	var n atomic.Int64
	var over atomic.Bool
	defer time.AfterFunc(d, func() { over.Store(true) }).Stop()
	var all sync.WaitGroup
	begun, used := time.Now(), processorTime(t)
	for range clients {
		all.Go(func() {
			c, err := newBenchClient(addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.nc.Close()
			for !over.Load() {
				if err := c.ask(); err != nil {
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(begun).Seconds(), float64(processorTime(t)-used) / float64(n.Load())
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
