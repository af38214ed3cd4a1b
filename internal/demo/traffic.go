// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	// visitsPerSecond is the number of requests of customers. With the calls between the services,
	// the router sees about three times as many.
	visitsPerSecond = 7
	// visiting bounds the requests in flight: customers of a slow shop wait.
	visiting = 8
)

// Visit sends the requests of customers through the router at an address, until ctx ends.
func Visit(ctx context.Context, router string) {
	transport := &http.Transport{MaxIdleConnsPerHost: visiting, Proxy: nil}
	defer transport.CloseIdleConnections()
	cl := &http.Client{Transport: transport, Timeout: 2 * callTimeout}
	seats := make(chan struct{}, visiting)
	var visitors sync.WaitGroup
	defer visitors.Wait()
	tick := time.NewTicker(time.Second / visitsPerSecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		select {
		case seats <- struct{}{}:
			visitors.Go(func() {
				defer func() { <-seats }()
				visitOnce(ctx, cl, router)
			})
		default: // the shop is slow
		}
	}
}

// visitOnce sends one request: most customers look, some order. The answer is of no interest: the
// services log it, and the router counts it.
func visitOnce(ctx context.Context, cl *http.Client, router string) {
	method, path := http.MethodGet, "/"
	switch n := rand.IntN(10); {
	case n == 0:
		method, path = http.MethodPost, "/orders"
	case n <= 3:
		path = "/cart"
	}
	q, err := http.NewRequestWithContext(ctx, method, "http://"+router+path, nil)
	if err != nil {
		return
	}
	q.Host = "shop.localhost"
	resp, err := cl.Do(q)
	if err != nil {
		return
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, answerRoom))
	resp.Body.Close()
}
