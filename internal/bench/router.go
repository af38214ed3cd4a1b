// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// routing measures the router: it sends requests to the same instance directly, through the
// router by HTTP and by TCP, and through the standard library's proxy, in turns.
func routing(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	ways, proxy, end, err := b.ways(ctx, m)
	if err != nil {
		return err
	}
	defer end()
	if err := b.throughput(ctx, ways, append(m.Processes(), proxy, os.Getpid())); err != nil {
		return err
	}
	if err := b.added(ctx, ways); err != nil {
		return err
	}
	f := metrics{}
	if err := f.run(ctx, "internal/router", "^Benchmark(Find|ApplyOne)", "2000x"); err != nil {
		return err
	}
	return b.show(f, []figure{
		{"router: one instance replaced among 10,000 on 1,000 routes", "ApplyOne/routes", "ns/op", "ns", ""},
		{"router: one instance replaced among 10,000 on one route", "ApplyOne/instances", "ns/op", "ns", ""},
		{"router: a request's route found among 10,000", "Find", "ns/op", "ns", ""},
	})
}

const routerClients = 64

// A way is one path to an instance.
type way struct {
	name string
	load *load
	rate []float64 // requests per second, by round
	cost []float64 // processor time of all involved processes per request, ns
}

func (b *bench) ways(ctx context.Context, m *machine) (ways []*way, proxy int, end func(), err error) {
	free, err := testbed.FreeAddress()
	if err != nil {
		return nil, 0, nil, err
	}
	_, port, _ := net.SplitHostPort(free)
	listen, _ := strconv.Atoi(port)
	job := testbed.Job("routed", "raw_exec", 1, map[string]any{"command": b.reeve, "args": []string{"example-web"}})
	job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	job.Groups[0].Routes = []*api.Route{{Port: "http"}, {Port: "http", Protocol: api.RouteTCP, Listen: listen}}
	if err := register(ctx, m, job); err != nil {
		return nil, 0, nil, err
	}
	var s *api.RouterStatus
	err = m.poll(ctx, func(ctx context.Context) (err error) {
		if s, err = m.Client.Status().Router(ctx); err == nil && len(s.Routes) < 2 {
			err = fmt.Errorf("the router has %d routes", len(s.Routes))
		}
		return err
	})
	if err != nil {
		return nil, 0, nil, err
	}
	direct := s.Routes[0].Instances[0].Address
	std, proxy, end, err := startProxy(ctx, direct)
	if err != nil {
		return nil, 0, nil, err
	}
	for _, w := range []struct{ name, addr string }{
		{"direct", direct}, {"router", s.HTTP}, {"tcp", net.JoinHostPort(s.TCPAddress, port)}, {"reverseproxy", std},
	} {
		var l *load
		err := m.poll(ctx, func(context.Context) (err error) {
			l, err = newLoad(w.addr, "bench.example")
			return err
		})
		if err != nil {
			end()
			return nil, 0, nil, err
		}
		ways = append(ways, &way{name: w.name, load: l})
	}
	return ways, proxy, end, nil
}

// throughput sends requests as fast as possible over one way after the other, in several
// rounds.
//
// The cost of a request is the processor time of all involved processes. On an idle machine
// the rates express the same; beside other load, where more processes get a larger share,
// only the cost does.
func (b *bench) throughput(ctx context.Context, ways []*way, pids []int) error {
	const rounds, each = 16, 700 * time.Millisecond
	for round := range rounds {
		for i := range ways {
			w := ways[(round+i)%len(ways)] // each way follows each other one
			before, begin := processorTime(pids), time.Now()
			rate, err := w.load.most(ctx, routerClients, each)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			w.rate = append(w.rate, rate)
			w.cost = append(w.cost, float64(processorTime(pids)-before)/(rate*time.Since(begin).Seconds()))
		}
	}
	direct, std := ways[0], ways[3]
	for _, w := range []struct {
		*way
		what, bar string
		to        *way
		named     string
	}{
		{ways[1], "router: HTTP, 64 connections", ">= 0.45 x direct", direct, "direct"},
		{ways[2], "router: HTTP over a TCP route", ">= 0.55 x direct", direct, "direct"},
		{ways[1], "router: HTTP against httputil.ReverseProxy, tuned", ">= 1.4 x", std, "its"},
	} {
		b.add(w.what, w.bar, "%s requests/s, %.2f x %s %s; by processor time %.2f x", amount(median(w.rate)), ratio(w.rate, w.to.rate), w.named, amount(median(w.to.rate)), ratio(w.to.cost, w.cost))
	}
	return nil
}

// added compares latencies at half of the router's maximum rate.
func (b *bench) added(ctx context.Context, ways []*way) error {
	half := median(ways[1].rate) / 2
	const rounds, each = 10, time.Second
	var more, direct, routed []float64
	for round := range rounds {
		var p99 [2]float64
		for i := range p99 {
			way := (round + i) % len(p99)
			t, err := ways[way].load.at(ctx, half, routerClients, each)
			if err != nil {
				return err
			}
			p99[way] = float64(t.at(0.99))
		}
		direct, routed = append(direct, p99[0]), append(routed, p99[1])
		more = append(more, p99[1]-p99[0])
	}
	b.add(fmt.Sprintf("router: added to the p99 at half load (%s requests/s)", amount(half)), "<= 2 ms", "%s (direct %s, routed %s)",
		ms(time.Duration(median(more))), ms(time.Duration(median(direct))), ms(time.Duration(median(routed))))
	return nil
}

// processorTime returns the total time of processes, to 10 ms.
func processorTime(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, i := range []int{11, 12} { // user mode, kernel mode
			ticks, _ := strconv.ParseInt(f[i], 10, 64)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

// ratio returns the median of the rounds' ratios, because a disturbance of a round affects both
// of its sides.
func ratio(a, b []float64) float64 {
	var all []float64
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return median(all)
}

// startProxy runs the standard library's proxy in a separate process, like the router.
func startProxy(ctx context.Context, to string) (addr string, pid int, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", 0, nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-proxy-to", to)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, nil, err
	}
	end = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", 0, nil, fmt.Errorf("the proxy to compare with did not start: %w", err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, end, nil
}

// standardProxy is the fastest proxy on httputil.ReverseProxy: it keeps enough connections,
// which the default does not, reuses buffers, and has no other features of the router.
func standardProxy(to string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	target := &url.URL{Scheme: "http", Host: to}
	return http.Serve(l, &httputil.ReverseProxy{
		Rewrite:    func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:  &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 1024, DisableCompression: true},
		BufferPool: lent{},
		ErrorLog:   log.New(io.Discard, "", 0),
	})
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

type lent struct{}

func (lent) Get() []byte  { return buffers.Get().(*[32 << 10]byte)[:] }
func (lent) Put(b []byte) { buffers.Put((*[32 << 10]byte)(b)) }
