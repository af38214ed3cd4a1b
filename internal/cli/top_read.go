// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/top"
)

// topTimeout bounds each request of a reading.
const topTimeout = 5 * time.Second

// A topReader reads a cluster from one of its servers, and continues with the next one when that
// one is lost. One reading runs at a time; a new one waits until the cancelled one has returned.
type topReader struct {
	c       *cli
	config  client.Config
	mu      sync.Mutex
	servers []string // addresses to choose from
	current int
	clients map[string]*client.Client // by address
	used    string                    // address that answered last
	moved   string                    // says that another server answers now
	movedAt time.Time
}

// movedFor is the time for which a change of the server is shown.
const movedFor = 30 * time.Second

// topReader returns a reader of the cluster that flags and environment select.
func (c *cli) topReader() (*topReader, error) {
	config, err := c.clientConfig()
	if err != nil {
		return nil, err
	}
	r := &topReader{c: c, config: config, clients: map[string]*client.Client{}, servers: []string{config.Address}}
	if config.TLS != nil && config.Dial != nil { // a context: each of its servers is verified by name of the cluster
		r.servers, r.config.Dial = nil, nil
		for _, server := range c.used.Servers {
			r.servers = append(r.servers, "https://"+server)
		}
	}
	_, err = r.client(r.servers[0]) // an invalid address is a mistake of the user
	return r, err
}

func (r *topReader) client(address string) (*client.Client, error) {
	if cl := r.clients[address]; cl != nil {
		return cl, nil
	}
	config := r.config
	config.Address = address
	cl, err := client.New(config)
	if err == nil {
		r.clients[address] = cl
	}
	return cl, err
}

// read makes one reading. notice describes missing parts, and a change of the server.
func (r *topReader) read(ctx context.Context, req top.Request) (s *top.Snapshot, notice string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lost []error
	for range len(r.servers) {
		address := r.servers[r.current]
		cl, err := r.client(address)
		if err != nil {
			return nil, "", err
		}
		s, notice, err = r.readFrom(ctx, cl, req)
		if err == nil {
			if r.used != "" && r.used != cl.Address() {
				r.moved, r.movedAt = fmt.Sprintf("%s does not answer; continued with %s.", r.used, cl.Address()), s.Time
			}
			r.used = cl.Address()
			if notice == "" && r.moved != "" && s.Time.Sub(r.movedAt) < movedFor {
				notice = r.moved
			}
			r.learn(s.Servers)
			return s, notice, nil
		}
		if ctx.Err() != nil || !isLost(err) {
			return nil, "", err
		}
		lost = append(lost, err)
		r.current = (r.current + 1) % len(r.servers)
	}
	if len(lost) > 1 {
		return nil, "", api.Errorf(api.CodeUnavailable, "none of %d servers answers; the first: %v", len(lost), lost[0])
	}
	return nil, "", lost[0]
}

// learn adds servers of the cluster to the addresses to choose from, if they can be verified.
func (r *topReader) learn(servers []*api.ServerStatus) {
	if r.config.TLS == nil {
		return
	}
	for _, s := range servers {
		if address := "https://" + s.Address; s.Status == api.ServerAlive && !slices.Contains(r.servers, address) {
			r.servers = append(r.servers, address)
		}
	}
}

// isLost reports whether another server may answer instead.
func isLost(err error) bool {
	var none *client.NoAnswer
	return errors.As(err, &none) || errors.Is(err, context.DeadlineExceeded)
}

// readFrom reads from one server. It fails if the server does not answer at all; parts that fail
// for other reasons are missing, and notice has the first reason.
func (r *topReader) readFrom(ctx context.Context, cl *client.Client, req top.Request) (*top.Snapshot, string, error) {
	s := &top.Snapshot{Time: r.c.Now(), Address: cl.Address()}
	within, cancel := context.WithTimeout(ctx, topTimeout)
	defer cancel()
	var err error
	if s.Leader, err = cl.Status().Leader(within); err != nil {
		return nil, "", err
	}
	p := parts{ctx: within}
	if s.Leader != "" { // without a leader, these requests would wait for one
		p.read(func(ctx context.Context) (err error) {
			s.Servers, err = cl.Servers().List(ctx)
			return err
		})
		p.read(func(ctx context.Context) (err error) {
			s.Attention, err = cl.Servers().Attention(ctx)
			return err
		})
	}
	p.read(func(ctx context.Context) error {
		m, err := cl.Status().Metrics(ctx)
		if err == nil {
			s.Counts = top.CountsOf(m)
		}
		return err
	})
	if req.Jobs() {
		p.read(func(ctx context.Context) (err error) {
			s.Jobs, err = firstPage(ctx, &client.QueryOptions{Namespace: "*", Filter: req.JobFilter()}, cl.Jobs().List)
			return err
		})
	}
	if req.Nodes() {
		p.read(func(ctx context.Context) (err error) {
			s.Nodes, err = firstPage(ctx, &client.QueryOptions{Filter: req.NodeFilter()}, cl.Nodes().List)
			return err
		})
	}
	err = p.wait()
	s.Time = r.c.Now()
	switch {
	case err == nil && s.Leader == "":
		return s, "No server leads: the state of the servers is unknown.", nil
	case err == nil:
		return s, "", nil
	case isLost(err) && within.Err() == nil, api.CodeOf(err) == api.CodeInvalid:
		return nil, "", err
	case errors.Is(err, context.DeadlineExceeded):
		return s, "Incomplete: some answers did not arrive in time.", nil
	}
	return s, "Incomplete: " + err.Error(), nil
}

// firstPage reads at most one page of a list, from the data that the server has.
func firstPage[T any](ctx context.Context, q *client.QueryOptions,
	list func(context.Context, *client.QueryOptions) ([]T, *client.QueryMeta, error),
) (top.List[T], error) {
	q.Stale, q.PerPage, q.Params = true, top.PageSize, url.Values{}
	items, meta, err := list(ctx, q)
	switch {
	case err != nil && isHidden(err):
		return top.List[T]{Missing: err.Error()}, nil
	case err != nil:
		return top.List[T]{}, err
	}
	return top.List[T]{Items: items, More: meta.NextToken != ""}, nil
}

// parts are reads that run together.
type parts struct {
	ctx   context.Context
	wg    sync.WaitGroup
	mu    sync.Mutex
	first error
}

// read starts one read. Answers that are hidden from the caller are no errors.
func (p *parts) read(f func(context.Context) error) {
	p.wg.Go(func() {
		if err := f(p.ctx); err != nil && !isHidden(err) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.first == nil {
				p.first = err
			}
		}
	})
}

func (p *parts) wait() error {
	p.wg.Wait()
	return p.first
}
