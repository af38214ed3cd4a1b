// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkNetwork measures the start and the end of a network with four ports: its namespace,
// link, address, rules and files.
func BenchmarkNetwork(b *testing.B) {
	m := newMachine(b)
	f := m.fabric()
	request := func(n int) Request {
		q := request(n, 20000)
		for i := range 3 {
			q.Ports = append(q.Ports, Port{Host: uint16(20001 + i), To: uint16(9000 + i)})
		}
		return q
	}
	if _, _, err := f.Up(b.Context(), Request{Alloc: "first", Mode: ModeBridge}); err != nil { // makes the bridge
		b.Fatal(err)
	}
	var ups, downs []time.Duration
	for n := 0; b.Loop(); n++ {
		begun := time.Now()
		if _, _, err := f.Up(b.Context(), request(n)); err != nil {
			b.Fatal(err)
		}
		made := time.Now()
		if err := f.Release(allocID(n))(); err != nil {
			b.Fatal(err)
		}
		ups, downs = append(ups, made.Sub(begun)), append(downs, time.Since(made))
	}
	slices.Sort(ups)
	slices.Sort(downs)
	b.ReportMetric(float64(ups[len(ups)/2].Nanoseconds()), "up-p50-ns")
	b.ReportMetric(float64(downs[len(downs)/2].Nanoseconds()), "down-p50-ns")
}

// BenchmarkRemovals measures the ends of 20 networks at the same time.
func BenchmarkRemovals(b *testing.B) {
	m := newMachine(b)
	f := m.fabric()
	for b.Loop() {
		b.StopTimer()
		for n := range 20 {
			if _, _, err := f.Up(b.Context(), request(n, uint16(20000+n))); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				if err := f.Release(allocID(n))(); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// BenchmarkThroughput measures how fast a client on the node reads from an allocation, at its own
// address and through a port of the node, in turns: the
// medians of the rounds.
func BenchmarkThroughput(b *testing.B) {
	m := newMachine(b)
	f := m.fabric()
	r := m.up(f, 1, 20001)
	m.stream(f.namespace(r.Alloc), ":9000")
	if err := f.t.add([]element{{setPorts + "4", join([]byte{6}, number(20009)), join(r.Address.Addr().AsSlice(), number(9000))}}); err != nil {
		b.Fatal(err)
	}
	const size = 256 << 20
	var ratios, rates []float64
	for round := 0; b.Loop(); round++ {
		ways := []string{r.Address.Addr().String() + ":9000", "198.51.100.2:20009"}
		first := round % 2 // what comes second is at an advantage on some machines, and at a disadvantage on others
		var took [2]time.Duration
		for _, way := range []int{first, 1 - first} {
			took[way] = m.read(ways[way], size)
		}
		ratios = append(ratios, float64(took[0])/float64(took[1]))
		rates = append(rates, size/took[1].Seconds()/1e9)
	}
	slices.Sort(ratios)
	slices.Sort(rates)
	b.ReportMetric(ratios[len(ratios)/2], "of-direct")
	b.ReportMetric(rates[len(rates)/2], "GB/s")
}

// stream sends zeros to each client within a namespace.
func (m *machine) stream(namespace, at string) {
	m.t.Helper()
	err := within(namespace, func() error {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return err
		}
		m.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					for zeros := make([]byte, 256<<10); ; {
						if _, err := c.Write(zeros); err != nil {
							return
						}
					}
				}()
			}
		}()
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// read reads from an address within the machine, and returns how long it took.
func (m *machine) read(at string, size int64) (took time.Duration) {
	m.t.Helper()
	err := within(m.path, func() error {
		c, err := (&net.Dialer{Timeout: patience}).DialContext(context.Background(), "tcp", at)
		if err != nil {
			return err
		}
		defer c.Close()
		begun := time.Now()
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{io.LimitReader(c, size)}, make([]byte, 256<<10))
		if took = time.Since(begun); err == nil && n != size {
			err = fmt.Errorf("%d of %d bytes", n, size)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return took
}
