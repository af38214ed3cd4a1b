// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A load is a set of clients that repeat one request with minimal work of their own: they
// share the machine with the measured processes, so their cost is part of the result.
type load struct {
	addr    string
	request []byte
	size    int // size of an answer including its head
}

// newLoad sends one request to learn the size of an answer.
func newLoad(addr, host string) (*load, error) {
	l := &load{addr: addr, request: fmt.Appendf(nil, "GET / HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n", host)}
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Write(l.request); err != nil {
		return nil, err
	}
	var seen bytes.Buffer
	text := bufio.NewReader(io.TeeReader(nc, &seen))
	resp, err := http.ReadResponse(text, nil)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", addr, resp.Status)
	}
	l.size = seen.Len() - text.Buffered()
	return l, nil
}

// ask sends the request and reads the answer.
func (l *load) ask(nc net.Conn, room []byte) error {
	if _, err := nc.Write(l.request); err != nil {
		return err
	}
	for got := 0; got < l.size; {
		n, err := nc.Read(room[got:])
		if err != nil {
			return err
		}
		got += n
	}
	if string(room[9:12]) != "200" {
		return fmt.Errorf("%s answers %q", l.addr, room[:15])
	}
	return nil
}

// clients runs n clients, each with its own connection, until the first error.
func (l *load) clients(ctx context.Context, n int, run func(ctx context.Context, i int, ask func() error) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			nc, err := net.Dial("tcp", l.addr)
			if err == nil {
				defer nc.Close()
				room := make([]byte, l.size+4096)
				err = run(ctx, i, func() error { return l.ask(nc, room) })
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// most returns the rate at which n clients get answers if each waits only for its answers.
func (l *load) most(ctx context.Context, n int, d time.Duration) (float64, error) {
	var done atomic.Int64
	begin := time.Now()
	err := l.clients(ctx, n, func(ctx context.Context, _ int, ask func() error) error {
		for time.Since(begin) < d && ctx.Err() == nil {
			if err := ask(); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(begin).Seconds(), err
}

// at sends requests at a fixed rate, regardless of delayed answers, and returns the time of
// each from the moment it was due.
func (l *load) at(ctx context.Context, rate float64, n int, d time.Duration) (times, error) {
	var mu sync.Mutex
	var all times
	begin := time.Now()
	interval := time.Duration(float64(n) / rate * float64(time.Second))
	err := l.clients(ctx, n, func(ctx context.Context, i int, ask func() error) error {
		var own times
		due := begin.Add(interval * time.Duration(i) / time.Duration(n))
		for ; due.Sub(begin) < d && ctx.Err() == nil; due = due.Add(interval) {
			time.Sleep(time.Until(due))
			if err := ask(); err != nil {
				return err
			}
			own = append(own, time.Since(due))
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, own...)
		return nil
	})
	return all, err
}
