// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A told is what a reader of the event stream has been told so far.
type told struct {
	mu     sync.Mutex
	events []string
	index  uint64
	more   chan struct{} // closed with the next event
	breaks int
}

func newTold() *told { return &told{more: make(chan struct{})} }

// hear notes an event: where it is in the order, what it is about, and a sum of
// the object.
func (d *told) hear(e *api.Event) error {
	object, err := json.Marshal(e.Payload)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Index < d.index {
		return fmt.Errorf("index %d came after %d", e.Index, d.index)
	}
	d.index = e.Index
	d.events = append(d.events, fmt.Sprintf("%d %s %s %.8x", e.Index, e.Type, e.Key, sha256.Sum256(object)))
	close(d.more)
	d.more = make(chan struct{})
	return nil
}

// until waits until an event was told.
func (d *told) until(t *testing.T, event string) {
	t.Helper()
	late := wait.Limit(t, patience)
	for {
		d.mu.Lock()
		more, found := d.more, false
		for i := len(d.events) - 1; i >= 0 && !found; i-- {
			found = strings.Contains(d.events[i], event)
		}
		count := len(d.events)
		d.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("of %d events none is %q", count, event)
		}
	}
}

// list is what was told up to an event.
func (d *told) list(last string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, e := range d.events {
		if strings.Contains(e, last) {
			return d.events[:i+1]
		}
	}
	return d.events
}

// followNDJSON reads as the Go client does, until ctx ends.
func (m *machine) followNDJSON(ctx context.Context, d *told, index uint64) error {
	o := client.EventOptions{Index: index, Namespace: "*", OnBreak: func(error) { d.mu.Lock(); d.breaks++; d.mu.Unlock() }}
	for b, err := range m.Client.Events().Follow(ctx, o) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case b.Missed != nil:
			return fmt.Errorf("missed %+v", b.Missed)
		}
		for _, e := range b.Events {
			if err := d.hear(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// followSSE reads as a browser does: it comes back with the last id that it saw.
func (m *machine) followSSE(ctx context.Context, d *told, query string) error {
	last := ""
	for ctx.Err() == nil {
		err := m.readSSE(ctx, query, last, func(id, event, data string) error {
			if id != "" {
				last = id
			}
			switch event {
			case "":
				return nil
			case "missed", "snapshot":
				return fmt.Errorf("%w: %s: %s", errTold, event, data)
			}
			e := new(api.Event)
			if err := json.Unmarshal([]byte(data), e); err != nil {
				return fmt.Errorf("%w: %w in %q", errTold, err, data)
			}
			return d.hear(e)
		})
		if err != nil && strings.Contains(err.Error(), errTold.Error()) {
			return err
		}
		d.mu.Lock()
		d.breaks++
		d.mu.Unlock()
		wait.Pass(ctx, 20*time.Millisecond) // at least the retry time of the stream
	}
	return nil
}

var errTold = fmt.Errorf("the stream said what it should not")

// readSSE hands over the messages of one connection.
func (m *machine) readSSE(ctx context.Context, query, lastID string, take func(id, event, data string) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.Addr+"/v1/event/stream?"+query, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errTold, resp.Status)
	}
	var id, event, data string
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err // a message without its end is none
		}
		name, value, _ := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(": "))
		switch string(name) {
		case "id":
			id = string(value)
		case "event":
			event = string(value)
		case "data":
			data = string(value)
		case "":
			if len(value) > 0 {
				continue // a comment
			}
			if err := take(id, event, data); err != nil {
				return err
			}
			id, event, data = "", "", ""
		}
	}
}

// TestEventStreamResumesOverKill9 kills the server again and again while jobs are
// registered and tasks crash. Two readers who come back, one with the index, one
// with the id of the last message, must have heard what one hears who reads
// everything at the end: nothing twice, nothing left out, in one order.
func TestEventStreamResumesOverKill9(t *testing.T) {
	t.Parallel()
	const rounds, writers = 8, 3
	m := newMachine(t)
	crashing := testbed.ShellJob("crashing", 3, "sleep 0.1; exit 3")
	crashing.Groups[0].Restart = &api.Restart{Attempts: ptr(1000), Delay: ptr(50 * time.Millisecond), Interval: ptr(time.Hour)}
	m.register(crashing)
	_, meta, err := m.Client.Jobs().Get(t.Context(), "crashing", nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := meta.Index
	ctx, cancel := context.WithCancel(t.Context())
	lines, messages := newTold(), newTold()
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	for d, follow := range map[*told]func() error{
		lines:    func() error { return m.followNDJSON(ctx, lines, begin) },
		messages: func() error { return m.followSSE(ctx, messages, fmt.Sprintf("namespace=*&index=%d", begin)) },
	} {
		readers.Go(func() {
			if err := follow(); err != nil {
				t.Errorf("after %d events: %v", len(d.events), err)
			}
		})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	seq := 0
	for round := range rounds {
		// Only who is connected can be cut off.
		back := fmt.Sprintf("round-%d", round)
		m.register(sequenceJob(back, 1))
		lines.until(t, "JobRegistered "+back)
		messages.until(t, "JobRegistered "+back)
		m.load(writers, &seq, time.Duration(50+rng.IntN(200))*time.Millisecond)
		m.start()
		m.waitReady()
	}
	m.register(sequenceJob("last", 1))
	const last = "JobRegistered last"
	lines.until(t, last)
	messages.until(t, last)
	cancel()
	readers.Wait()

	whole := newTold()
	late, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for b, err := range m.Client.Events().Stream(late, client.EventOptions{Index: begin, Namespace: "*", Complete: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Events {
			if err := whole.hear(e); err != nil {
				t.Fatal(err)
			}
		}
		if all := whole.list(last); strings.Contains(all[len(all)-1], last) {
			break
		}
	}
	want := whole.list(last)
	for name, d := range map[string]*told{"lines": lines, "server-sent events": messages} {
		if diff := cmp.Diff(want, d.list(last)); diff != "" {
			t.Errorf("%s over %d kills (-at the end +on the way):\n%s", name, rounds, diff)
		}
		if d.breaks < rounds {
			t.Errorf("%s: the connection broke only %d times", name, d.breaks)
		}
	}
	counts := map[string]int{}
	for _, e := range want {
		counts[strings.Fields(e)[1]]++
	}
	if counts[api.EventTypeInstanceCrashed] < rounds {
		t.Errorf("instances hardly crashed: %v", counts)
	}
	t.Logf("%d events over %d kills: %v", len(want), rounds, counts)
}

// load registers jobs for some time, and then kills the agent amidst.
func (m *machine) load(writers int, seq *int, d time.Duration) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				*seq++
				n := *seq
				mu.Unlock()
				if _, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sequenceJob(fmt.Sprintf("job-%d", w), n)}); err != nil {
					return
				}
			}
		})
	}
	wait.Pass(ctx, d)
	m.Kill()
	cancel()
	wg.Wait()
}
