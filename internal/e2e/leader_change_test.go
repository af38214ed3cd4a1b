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
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A session is what a client does through one server at the same time, each over one connection:
// it talks with a command in a task, follows a log and the event stream, and waits for changes.
type session struct {
	t       *testing.T
	through *machine
	http    *http.Client
	cancel  func()
	running sync.WaitGroup

	input io.WriteCloser
	said  chan string // lines of the command
	ended chan error  // of the command

	mu     sync.Mutex
	log    bytes.Buffer
	events []*api.Event
	jobs   map[string]bool // of the newest answer to a blocking query
	index  uint64          // of that answer
	broke  []error
}

// converse begins a session with a task whose output is the numbers from 0.
func (m *members) converse(through *machine, alloc string) *session {
	m.t.Helper()
	host := m.net.Hosts()[slices.Index(m.all, through)]
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		t: m.t, through: through, cancel: cancel, said: make(chan string, 16), ended: make(chan error, 1),
		http: &http.Client{Transport: &http.Transport{DialContext: host.Dial}},
	}
	in, input := io.Pipe()
	out, output := io.Pipe()
	s.input = input
	go func() {
		code, err := through.Client.Allocations().Exec(ctx, alloc, client.Exec{Task: "task", Command: []string{"cat"}, Stdin: in, Stdout: output})
		output.Close()
		if err == nil && code != 0 {
			err = fmt.Errorf("exit code %d", code)
		}
		s.ended <- err
	}()
	s.running.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.said <- lines.Text()
		}
	})
	s.running.Go(func() { s.keep(ctx, "follow the log", s.followLog(ctx, alloc)) })
	s.running.Go(func() { s.keep(ctx, "follow events", s.followEvents(ctx)) })
	s.running.Go(func() { s.keep(ctx, "wait for jobs", s.followJobs(ctx)) })
	return s
}

// keep records the end of a stream that the session did not end.
func (s *session) keep(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broke = append(s.broke, fmt.Errorf("%s: it ended with %w", what, err))
}

func (s *session) followLog(ctx context.Context, alloc string) error {
	for frame, err := range s.through.Client.FS().Logs(ctx, alloc, client.LogOptions{Task: "task", Follow: true}) {
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.log.Write(frame.Data)
		s.mu.Unlock()
	}
	return io.EOF
}

// get requests a path through the server.
func (s *session) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+testbed.MemberPort+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.http.Do(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		return nil, fmt.Errorf("%s: %s", resp.Status, text)
	}
	return resp, err
}

func (s *session) followEvents(ctx context.Context) error {
	resp, err := s.get(ctx, "/v1/event/stream?topic=Job&index=1")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for messages := json.NewDecoder(resp.Body); ; {
		var batch api.EventBatch
		if err := messages.Decode(&batch); err != nil {
			return err
		}
		s.mu.Lock()
		s.events = append(s.events, batch.Events...)
		s.mu.Unlock()
	}
}

// followJobs repeats a blocking query, each time with the index of the last answer.
func (s *session) followJobs(ctx context.Context) error {
	for {
		resp, err := s.get(ctx, fmt.Sprintf("/v1/jobs?wait=60s&index=%d", s.index))
		if err != nil {
			return err
		}
		var list []*api.JobListStub
		err = json.NewDecoder(resp.Body).Decode(&list)
		resp.Body.Close()
		index, numErr := strconv.ParseUint(resp.Header.Get("X-Nomad-Index"), 10, 64)
		if err = errors.Join(err, numErr); err != nil {
			return err
		}
		if index < s.index {
			return fmt.Errorf("index %d after %d", index, s.index)
		}
		jobs := map[string]bool{}
		for _, j := range list {
			jobs[j.ID] = true
		}
		s.mu.Lock()
		for id := range s.jobs {
			if !jobs[id] {
				err = fmt.Errorf("job %s of index %d is missing at index %d", id, s.index, index)
			}
		}
		s.jobs, s.index = jobs, index
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// talk says a line to the command, which repeats it, and waits until the log has grown.
func (s *session) talk(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.input, line+"\n"); err != nil {
		s.t.Fatalf("say %q: %v", line, err)
	}
	select {
	case said := <-s.said:
		if said != line {
			s.t.Errorf("the command said %q, want %q", said, line)
		}
	case err := <-s.ended:
		s.t.Fatalf("the command ended before it said %q: %v", line, err)
	case <-wait.Limit(s.t, patience):
		s.t.Fatalf("the command did not say %q", line)
	}
	size := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.log.Len()
	}
	begun := size()
	wait.Until(s.t, line+": the log grows", func() bool { return size() > begun })
}

// knows waits until a job is in the event stream and in the answer to a blocking query.
func (s *session) knows(job string) {
	s.t.Helper()
	wait.Until(s.t, "the session knows "+job, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.jobs[job] && slices.ContainsFunc(s.events, func(e *api.Event) bool { return e.Key == job }) || len(s.broke) > 0
	})
}

// end ends the session, and checks what it received.
func (s *session) end(acknowledged []string) {
	s.t.Helper()
	s.input.Close()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("the command ended with %v", err)
		}
	case <-wait.Limit(s.t, patience):
		s.t.Error("the command did not end with its input")
	}
	s.cancel()
	s.running.Wait()
	for _, err := range s.broke {
		s.t.Error(err)
	}
	lines := strings.Split(s.log.String(), "\n")
	for i, line := range lines[:len(lines)-1] {
		if line != strconv.Itoa(i) {
			s.t.Fatalf("line %d of the log is %q", i, line)
		}
	}
	times := map[string]int{}
	var last uint64
	for _, e := range s.events {
		if e.Index < last {
			s.t.Errorf("event %s of %s has index %d after %d", e.Type, e.Key, e.Index, last)
		}
		last = e.Index
		if e.Type == api.EventTypeJobRegistered {
			times[e.Key]++
		}
	}
	for _, job := range acknowledged {
		if times[job] != 1 || !s.jobs[job] {
			s.t.Errorf("the events contain job %s %d times; the blocking query has it: %t", job, times[job], s.jobs[job])
		}
	}
	s.t.Logf("%d lines of the log, %d events", len(lines)-1, len(s.events))
}

// TestStreamsContinueOverAChangeOfLeader kills the leader while a client uses another server:
// nothing of what the client does is interrupted, incomplete or repeated, and the nodes of the
// other servers keep their connections.
func TestStreamsContinueOverAChangeOfLeader(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	through := m.other(leader)
	node := m.other(leader, through)
	there := []*api.Constraint{{LTarget: "${node.unique.name}", RTarget: fmt.Sprint("host-", slices.Index(m.all, node)+1), Operand: "="}}
	counting := testbed.ShellJob("counting", 1, "i=0; while :; do echo $i; i=$((i+1)); sleep 0.02; done")
	counting.Constraints = there
	through.put(counting)
	alloc := through.allocations("counting", "runs", running(1))[0].ID
	linked := func(a *machine) int { return len(linkLine.FindAllString(a.Output(), -1)) }
	links := []int{linked(through), linked(node)}
	s := m.converse(through, alloc)
	acknowledged := []string{"counting"}
	attempts := 0
	write := func() {
		t.Helper()
		through.eventually("a job is registered", func(ctx context.Context) error {
			attempts++ // an attempt without an answer may have had an effect
			job := sleeper(fmt.Sprint("job-", attempts), 0)
			_, err := through.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: job})
			if err == nil {
				acknowledged = append(acknowledged, job.ID)
			}
			return err
		})
	}
	write()
	s.talk("before")
	s.knows(acknowledged[1])
	leader.Kill()
	s.talk("without a leader")
	for range 3 {
		write()
	}
	next := m.leader(through)
	if next == leader {
		t.Fatal("the killed server leads")
	}
	s.talk("with the next leader")
	s.knows(acknowledged[len(acknowledged)-1])
	later := sleeper("later", 1)
	later.Constraints = there
	through.put(later)
	through.allocations("later", "runs on the node of a follower", running(1))
	leader.start()
	leader.eventually("the killed server returns", func(ctx context.Context) error { return m.allVote(ctx, leader) })
	write()
	s.talk("with all servers")
	s.knows(acknowledged[len(acknowledged)-1])
	s.end(acknowledged)
	if now := []int{linked(through), linked(node)}; !slices.Equal(now, links) {
		t.Errorf("the nodes connected %v times to servers, and %v times before", now, links)
	}
}
