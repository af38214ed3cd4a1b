// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Number of readers of the event stream, and of the timed events of each of two sets of
// readers.
const (
	idleStreams = 5000
	timedEvents = 300
)

// streams measures the cost of idle readers of the event stream, and the delay of an event to
// an active one.
func streams(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	alone, err := eventTimes(ctx, m, "alone")
	if err != nil {
		return err
	}
	b.add("events: a job is registered -> its event was read", "", "%s", alone)
	if err := pause(ctx, settle); err != nil {
		return err
	}
	before := testbed.ResidentBytes(m.PID())
	readers, err := openStreams(ctx, m.Addr, idleStreams)
	defer readers.close()
	if err != nil {
		return err
	}
	// Each reader has received a heartbeat by then, and its buffers were released.
	if err := pause(ctx, 2*settle+settle/2); err != nil {
		return err
	}
	each := float64(testbed.ResidentBytes(m.PID())-before) / idleStreams
	b.add("5,000 idle streams of events: the agent's resident memory", "<= 30 KB each", "%.1f KB each", each/1e3)
	used := processorTime([]int{m.PID()})
	if err := pause(ctx, 2*settle); err != nil {
		return err
	}
	used = processorTime([]int{m.PID()}) - used
	b.add("... its processor time, with a sign of life for each every 10 s", "", "%.1f %% of one processor", 100*used.Seconds()/(2*settle).Seconds())
	among, err := eventTimes(ctx, m, "among")
	if err != nil {
		return err
	}
	b.add("... a job is registered -> its event was read by one more, who wants it", "", "%s", among)
	took, err := readers.told(ctx, m)
	if err != nil {
		return err
	}
	b.add("... a job is registered that all of them want -> read by the median, and by the last one", "", "%s, %s", ms(took.at(0.5)), ms(took.at(1)))
	return nil
}

// eventTimes registers jobs one after another, and measures from the request to the event's
// arrival. The event may precede the response, because both follow the log entry.
func eventTimes(ctx context.Context, m *machine, name string) (t times, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type arrival struct {
		key string
		at  time.Time
	}
	arrivals, ended := make(chan arrival, timedEvents), make(chan error, 1)
	last, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: testbed.ShellJob(name, 0, "exit 0")})
	if err != nil {
		return nil, err
	}
	go func() {
		for batch, err := range m.Client.Events().Stream(ctx, client.EventOptions{Index: last.JobModifyIndex, Topics: map[string][]string{api.TopicJob: nil}}) {
			if err != nil {
				ended <- err
				return
			}
			for _, e := range batch.Events {
				if e.Type == api.EventTypeJobRegistered {
					arrivals <- arrival{e.Key, time.Now()}
				}
			}
		}
		ended <- errors.New("the stream ended")
	}()
	for i := range timedEvents {
		id := name + "-" + strconv.Itoa(i)
		began := time.Now()
		if _, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: testbed.ShellJob(id, 0, "exit 0")}); err != nil {
			return nil, err
		}
		for key := ""; key != id; {
			select {
			case a := <-arrivals:
				if key = a.key; key == id {
					t = append(t, a.at.Sub(began))
				}
			case err := <-ended:
				return nil, err
			}
		}
	}
	return t, nil
}

// idle holds connections on which events may arrive.
type idle struct {
	conns []net.Conn
	read  []*bufio.Reader
}

// openStreams opens streams without events: they select one job.
func openStreams(ctx context.Context, addr string, n int) (*idle, error) {
	all := &idle{}
	for range n {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return all, err
		}
		all.conns = append(all.conns, conn)
		fmt.Fprintf(conn, "GET /v1/event/stream?topic=Job:wanted HTTP/1.1\r\nHost: %s\r\n\r\n", addr)
		in := bufio.NewReaderSize(conn, 4096)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return all, err
		}
		if resp.StatusCode != http.StatusOK {
			return all, fmt.Errorf("event stream: %s", resp.Status)
		}
		all.read = append(all.read, bufio.NewReaderSize(resp.Body, 4096))
	}
	return all, nil
}

func (a *idle) close() {
	for _, c := range a.conns {
		c.Close()
	}
}

// told triggers an event for all streams, and returns the delay of each.
func (a *idle) told(ctx context.Context, m *machine) (times, error) {
	took, errs := make(times, len(a.read)), make([]error, len(a.read))
	var wg sync.WaitGroup
	var mu sync.Mutex
	began := time.Time{}
	mu.Lock() // until the clock runs
	for i, in := range a.read {
		wg.Go(func() {
			for {
				line, err := in.ReadSlice('\n')
				at := time.Now()
				if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
					errs[i] = err
					return
				}
				if !bytes.Contains(line, []byte(`"Events"`)) {
					continue
				}
				mu.Lock()
				took[i] = at.Sub(began)
				mu.Unlock()
				return
			}
		})
	}
	body, err := json.Marshal(&api.RegisterJobRequest{Job: testbed.ShellJob("wanted", 0, "exit 0")})
	if err != nil {
		return nil, err
	}
	began = time.Now()
	mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+m.Addr+"/v1/jobs", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	wg.Wait()
	return took, errors.Join(slices.Compact(errs)...)
}

// askingInstances queries some of 250,000 instances.
func askingInstances(ctx context.Context, b *bench) error {
	f := metrics{}
	if err := f.run(ctx, "internal/server", "^BenchmarkInstances$", "20x"); err != nil {
		return err
	}
	for _, q := range []struct{ name, what, bar string }{
		{"Instances/all", "instances: all 250,000 of 2,500 jobs on 1,000 nodes", ""},
		{"Instances/job", "... the 100 of a job", ""},
		{"Instances/index", "... one, by its index", ""},
		{"Instances/domain", "... the 1,000 of a domain's ten jobs", ""},
		{"Instances/node", "... the 250 on a node, of 250 jobs", ""},
		{"Instances/page", "... a page of 100 from the middle", ""},
	} {
		ns, err := f.of(q.name, "ns/op")
		if err != nil {
			return err
		}
		objects, err := f.of(q.name, "allocs/op")
		if err != nil {
			return err
		}
		size, err := f.of(q.name, "B/op")
		if err != nil {
			return err
		}
		b.add(q.what, q.bar, "%s, %.0f KB in %s objects", ms(time.Duration(ns)), size/1e3, amount(objects))
	}
	return nil
}
