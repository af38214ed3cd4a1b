// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// bulkyJob weighs so much that a hundred of its versions are more than the
// servers keep of the past.
func bulkyJob(seq int) *api.Job {
	job := sequenceJob("bulky", seq)
	job.Groups[0].Tasks[0].Env = map[string]string{"TEXT": strings.Repeat("bulky ", 140_000)}
	return job
}

// bulkyRequest is the request that registers the bulky job with sequence number 0. The
// race detector makes encoding as slow as a megabyte a second: it is encoded once.
var bulkyRequest = sync.OnceValue(func() []byte {
	body, err := json.Marshal(&api.RegisterJobRequest{Job: bulkyJob(0)})
	if err != nil {
		panic(err)
	}
	return body
})

// A lineDecoder decodes messages of a stream, one per line, without the text of the bulky
// job: the race detector makes decoding slow.
type lineDecoder struct{ r *bufio.Reader }

func (d *lineDecoder) Decode(b *message) error {
	line, err := d.r.ReadBytes('\n')
	if err != nil {
		return err
	}
	if begin, rest, found := bytes.Cut(line, []byte(`"TEXT":"`)); found {
		_, rest, _ = bytes.Cut(rest, []byte(`"`))
		line = slices.Concat(begin, []byte(`"TEXT":"`+`"`), rest)
	}
	return json.Unmarshal(line, b)
}

// bulky registers versions of the bulky job, and returns the index of the last.
func (m *machine) bulky(from, to int) uint64 {
	m.t.Helper()
	var index uint64
	for seq := from; seq <= to; seq++ {
		body := bytes.Replace(bulkyRequest(), []byte(`"seq":"0"`), fmt.Appendf(nil, `"seq":"%d"`, seq), 1)
		resp, err := http.Post("http://"+m.Addr+"/v1/jobs", "application/json", bytes.NewReader(body))
		if err != nil {
			m.t.Fatal(err)
		}
		var registered api.RegisterJobResponse
		err = json.NewDecoder(resp.Body).Decode(&registered)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			m.t.Fatalf("register version %d: %s, %v", seq, resp.Status, err)
		}
		index = registered.JobModifyIndex
	}
	return index
}

// messages reads a stream as it is on the wire, signs of life left out.
type messages struct {
	t    *testing.T
	resp *http.Response
	dec  *lineDecoder
	late *time.Timer // ends the connection when a message takes too long
}

func (m *machine) messages(query string) *messages {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.Addr+"/v1/event/stream?"+query, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	late := time.AfterFunc(patience, cancel)
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		resp.Body.Close()
		transport.CloseIdleConnections()
		late.Stop()
		cancel()
	})
	return &messages{m.t, resp, &lineDecoder{bufio.NewReader(resp.Body)}, late}
}

// A message is as much of one as these tests look at.
type message struct {
	Index    uint64
	Snapshot string
	Missed   *api.EventMissed
	Events   []struct {
		Type, Key string
		Payload   struct {
			Job struct {
				Meta struct {
					Seq int `json:"seq,string"`
				}
			}
		}
	}
}

func (s *messages) next() *message {
	s.t.Helper()
	s.late.Reset(patience)
	for {
		b := new(message)
		if err := s.dec.Decode(b); err != nil {
			s.t.Fatalf("the stream ended: %v", err)
		}
		if len(b.Events) > 0 || b.Snapshot != "" || b.Missed != nil {
			return b
		}
	}
}

// TestReaderIsToldWhatIsNotKept asks a server that was killed, and has begun
// again, for what it does not keep any more, and for what is not yet.
func TestReaderIsToldWhatIsNotKept(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.register(sequenceJob("first", 1))
	newest := m.bulky(1, 110)
	m.Kill()
	m.start()
	m.waitReady()

	// From the oldest that is kept on, saying what is not told.
	lines := m.messages("topic=Job&index=1")
	timeline := lines.resp.Header.Get("X-Reeve-Timeline")
	missed := lines.next().Missed
	if missed == nil || missed.From != 1 || missed.To < 2 || missed.To > newest {
		t.Fatalf("missed %+v, want from 1 to some index below %d", missed, newest)
	}
	for seq, at := -1, missed.To; at < newest; {
		b := lines.next()
		if b.Index <= at {
			t.Fatalf("index %d came after %d", b.Index, at)
		}
		at = b.Index
		for _, e := range b.Events {
			if e.Type != api.EventTypeJobRegistered {
				continue
			}
			now := e.Payload.Job.Meta.Seq
			if seq >= 0 && now != seq+1 {
				t.Fatalf("version %d came after %d", now, seq)
			}
			seq = now
		}
	}
	// Nothing rather than less than everything.
	_, body := m.refused("topic=Job&index=1&complete", http.StatusNotFound)
	for _, want := range []string{"events of index 1 are no longer kept", "request a snapshot"} {
		if !strings.Contains(body, want) {
			t.Errorf("complete: %s, without %q", body, want)
		}
	}
	// Everything that is, and then what changes.
	pictures := m.messages("topic=Job&index=1&snapshot")
	if b := pictures.next(); b.Missed == nil || b.Missed.From != 1 {
		t.Fatalf("got %+v, want what was missed", b)
	}
	jobs := map[string]bool{}
	for b := pictures.next(); b.Snapshot != api.SnapshotEnd; b = pictures.next() {
		for _, e := range b.Events {
			jobs[e.Key] = true
		}
	}
	if len(jobs) != 2 || !jobs["first"] || !jobs["bulky"] {
		t.Errorf("the snapshot has the jobs %v", jobs)
	}
	newest = m.bulky(111, 111)
	if b := pictures.next(); b.Index != newest || len(b.Events) != 1 || b.Events[0].Key != "bulky" {
		t.Errorf("after the snapshot: index %d, want %d", b.Index, newest)
	}
	// A browser.
	stop := errors.New("enough")
	var first string
	err := m.readSSE(t.Context(), "topic=Job&index=1", "", func(id, event, data string) error {
		if event == "" {
			return nil
		}
		first = id + " " + event + " " + data
		return stop
	})
	oldest := 0
	if fmt.Sscan(first, &oldest); !errors.Is(err, stop) || first != fmt.Sprintf(`%d missed {"Index":%d,"Missed":{"From":1,"To":%d}}`, oldest, oldest, oldest) || oldest < int(missed.To) {
		t.Errorf("server-sent events begin with %q (%v), want missed from 1 to %d or later", first, err, missed.To)
	}

	// What is not yet: one that is a moment ahead waits for it, one that is far
	// ahead, or was told by other servers, is refused.
	soon := make(chan uint64, 1)
	go func() {
		for b, err := range m.Client.Events().Stream(t.Context(), client.EventOptions{Index: newest + 1, Timeline: timeline}) {
			if err != nil {
				t.Error(err)
			}
			soon <- b.Index
			return
		}
	}()
	if next := m.bulky(112, 112); <-soon <= newest {
		t.Errorf("a reader of index %d heard of something before it; the newest is %d", newest+1, next)
	}
	for _, query := range []string{"index=99999999", "index=5&timeline=another"} {
		if _, body := m.refused(query, http.StatusNotFound); !strings.Contains(body, "not part of this cluster's history") || !strings.Contains(body, "snapshot") {
			t.Errorf("%s: %s", query, body)
		}
	}
	for _, index := range []string{"-1", "soon", "99999999999999999999"} {
		if _, body := m.refused("index="+index, http.StatusBadRequest); !strings.Contains(body, index) {
			t.Errorf("index %s: %s", index, body)
		}
	}
	if b := m.messages("topic=Job&index=5&timeline=another&snapshot").next(); b.Snapshot != api.SnapshotBegin {
		t.Errorf("told by other servers, with a snapshot: %+v", b)
	}
}

// refused asks for a stream that is not to begin.
func (m *machine) refused(query string, status int) (http.Header, string) {
	m.t.Helper()
	s := m.messages(query)
	var b strings.Builder
	if _, err := bufio.NewReader(s.resp.Body).WriteTo(&b); err != nil {
		m.t.Fatal(err)
	}
	if s.resp.StatusCode != status {
		m.t.Errorf("%s: %s, want %d: %.300s", query, s.resp.Status, status, b.String())
	}
	return s.resp.Header, b.String()
}

// TestSlowReadersAreToldWhatTheyMissed has some readers take hardly anything while
// jobs are registered, and one take everything. The slow ones are told exactly what
// they missed; the quick one does not notice, and the server does not grow by
// what waits for the slow ones.
func TestSlowReadersAreToldWhatTheyMissed(t *testing.T) {
	const before, versions, slow = 90, 210, 8
	m := newMachine(t)
	newest := m.bulky(1, before) // the past is full
	quick := m.messages("topic=Job")
	readers, ends := make([]*slowReader, slow), make([]error, slow)
	release := make(chan struct{})
	var reading, missing sync.WaitGroup // missing: readers that do not know yet what they missed
	missing.Add(slow)
	for i := range readers {
		readers[i] = m.slowReader(newest, release)
		reading.Go(func() {
			ends[i] = readers[i].read("")
			missing.Done()
			if ends[i] == nil {
				ends[i] = readers[i].read("next")
			}
		})
	}
	resident := testbed.ResidentBytes(m.PID())
	seen, waited := before, time.Duration(0)
	for seq := before + 1; seq <= versions; seq++ {
		m.bulky(seq, seq)
		registered := time.Now()
		for seen < seq {
			b := quick.next()
			if b.Missed != nil {
				t.Fatalf("the quick reader missed %+v", b.Missed)
			}
			for _, e := range b.Events {
				if e.Type != api.EventTypeJobRegistered {
					continue
				}
				if now := e.Payload.Job.Meta.Seq; now != seen+1 {
					t.Fatalf("version %d came after %d", now, seen)
				}
				seen++
			}
		}
		waited = max(waited, time.Since(registered))
	}
	grown := testbed.ResidentBytes(m.PID()) - resident
	unread := int64(slow * (versions - before) * len(bulkyJob(1).Groups[0].Tasks[0].Env["TEXT"]))
	t.Logf("the quick reader had each version within %s; the server grew by %d MB while %d MB were not read", waited, grown>>20, unread>>20)
	if waited > 5*time.Second {
		t.Errorf("the quick reader waited %s for an event", waited)
	}
	if grown > unread/2 {
		t.Errorf("the server grew by %d MB while %d readers took hardly anything", grown>>20, slow)
	}
	close(release)
	missing.Wait() // a reader that is told later would miss the next job, too
	m.register(sequenceJob("next", 1))
	reading.Wait()
	for i, err := range ends {
		if err != nil {
			t.Errorf("slow reader %d: %v", i, err)
		}
	}
}

// A slowReader takes 25 kB a second until it is released: a message in half of the
// minute that the server allows, and much less than is written on the slowest machine.
type slowReader struct {
	conn    net.Conn
	release chan struct{}
	dec     *lineDecoder
	at      uint64 // the last index that it was told
}

func (r *slowReader) Read(p []byte) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 320*time.Millisecond)
	defer cancel()
	select {
	case <-r.release:
		r.conn.(*net.TCPConn).SetReadBuffer(4 << 20)
	case <-ctx.Done():
		p = p[:min(len(p), 8<<10)]
	}
	r.conn.SetDeadline(time.Now().Add(patience))
	return r.conn.Read(p)
}

func (m *machine) slowReader(index uint64, release chan struct{}) *slowReader {
	m.t.Helper()
	conn, err := net.Dial("tcp", m.Addr)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	r := &slowReader{conn: conn, release: release}
	fmt.Fprintf(conn, "GET /v1/event/stream?topic=Job&index=%d HTTP/1.1\r\nHost: %s\r\n\r\n", index, m.Addr)
	resp, err := http.ReadResponse(bufio.NewReaderSize(r, 4096), nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		m.t.Fatal(resp, err)
	}
	r.dec = &lineDecoder{bufio.NewReaderSize(resp.Body, 1<<20)}
	return r
}

// read reads until something of a job is told, or that something was missed.
func (r *slowReader) read(job string) error {
	for {
		b := new(message)
		if err := r.dec.Decode(b); err != nil {
			return fmt.Errorf("after index %d: %w", r.at, err)
		}
		switch m := b.Missed; {
		case m != nil && (job != "" || m.From != r.at+1 || m.To < m.From || b.Index != m.To):
			return fmt.Errorf("the last that was told is %d; missed: %+v", r.at, m)
		case m != nil:
			r.at = m.To
			return nil
		case b.Index <= r.at && len(b.Events) > 0:
			return fmt.Errorf("index %d came after %d", b.Index, r.at)
		case len(b.Events) > 0 && b.Events[0].Key == job:
			return nil
		}
		r.at = b.Index
	}
}
