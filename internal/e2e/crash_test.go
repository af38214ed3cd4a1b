// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAcknowledgedWritesSurviveKill9 ends the agent 100 times in the middle of
// a load of registrations, at seeded moments, and asks after each return for
// everything that was acknowledged.
func TestAcknowledgedWritesSurviveKill9(t *testing.T) {
	t.Parallel()
	const rounds, writers = 100, 4
	m := newMachine(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	acknowledged := map[string]int{} // job -> newest sequence number acknowledged
	sent := map[string]int{}
	for round := range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		first := make(chan struct{}, writers)
		for w := range writers {
			wg.Go(func() {
				id := fmt.Sprintf("job-%d", w)
				for ctx.Err() == nil {
					mu.Lock()
					sent[id]++
					seq := sent[id]
					mu.Unlock()
					_, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sequenceJob(id, seq)})
					if err != nil {
						return
					}
					mu.Lock()
					acknowledged[id] = seq
					mu.Unlock()
					select {
					case first <- struct{}{}:
					default:
					}
				}
			})
		}
		<-first
		wait.Pass(t.Context(), time.Duration(rng.IntN(40))*time.Millisecond)
		m.Kill()
		cancel()
		wg.Wait()
		m.start()
		for id, seq := range acknowledged {
			m.eventually(fmt.Sprintf("round %d: %s is at %d or later", round, id, seq), func(ctx context.Context) error {
				job, _, err := m.Client.Jobs().Get(ctx, id, nil)
				if api.CodeOf(err) == api.CodeNotFound {
					t.Fatalf("round %d: %s, acknowledged at %d, is gone", round, id, seq)
				}
				if err != nil {
					return err
				}
				if got, _ := strconv.Atoi(job.Meta["seq"]); got < seq || got > sent[id] {
					t.Fatalf("round %d: %s is at %d; %d was acknowledged, %d sent", round, id, got, seq, sent[id])
				}
				return nil
			})
		}
	}
	for id, seq := range acknowledged {
		t.Logf("%s: %d writes acknowledged over %d kills", id, seq, rounds)
	}
}

// sequenceJob wants nothing to run: the load is on the log alone.
func sequenceJob(id string, seq int) *api.Job {
	job := testbed.ShellJob(id, 0, "exit 0")
	job.Meta = map[string]string{"seq": strconv.Itoa(seq)}
	return job
}

// TestTasksSurviveKill9 checks that killing server and agent stops nothing: the
// same processes go on, no line of output is lost, and an exit that happened
// meanwhile is reported with its code.
func TestTasksSurviveKill9(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	gate := filepath.Join(m.Dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	counter := testbed.ShellJob("counter", 1, "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.02; done")
	quitter := testbed.ShellJob("quitter", 1, "echo started; read x < "+gate+"; exit 7")
	quitter.Type = api.JobTypeBatch
	quitter.Groups[0].Restart = &api.Restart{Attempts: ptr(0)}
	quitter.Groups[0].Reschedule = &api.Reschedule{Attempts: ptr(0), Unlimited: ptr(false)}
	m.register(counter)
	m.register(quitter)
	count := m.allocations("counter", "runs", running(1))[0]
	quit := m.allocations("quitter", "runs", running(1))[0]
	pid := m.taskPID("line $i")
	m.waitForLog(count.ID, "task", "line 5\n")

	m.Kill()
	if f, err := os.OpenFile(gate, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	} else {
		f.WriteString("go\n")
		f.Close()
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the task died with the agent: %v", err)
	}
	m.start()
	m.waitReady()

	ended := m.allocations("quitter", "has failed", func(list []*api.AllocationListStub) bool {
		return len(list) == 1 && list[0].ClientStatus == api.AllocClientFailed
	})[0]
	if ended.ID != quit.ID {
		t.Errorf("quitter was replaced: %s, then %s", quit.ID, ended.ID)
	}
	if code := exitCode(ended.TaskStates["task"]); code != 7 {
		t.Errorf("exit while the agent was away: code %d, want 7; events: %s", code, events(ended.TaskStates["task"]))
	}
	again := m.allocations("counter", "runs", running(1))[0]
	if again.ID != count.ID {
		t.Errorf("counter was replaced: %s, then %s", count.ID, again.ID)
	}
	if now := m.taskPID("line $i"); now != pid {
		t.Errorf("counter's process was %d, is %d", pid, now)
	}
	last := m.waitForLog(count.ID, "task", "line 200\n")
	for i := range 200 {
		if !strings.Contains(last, fmt.Sprintf("line %d\n", i)) {
			t.Fatalf("line %d of the output is missing", i)
		}
	}
}

// TestSupervisorKill9 checks that a task never outlives its supervisor
// unnoticed: it is ended, said to be lost, and started again as its restart
// block says.
func TestSupervisorKill9(t *testing.T) {
	m := newMachine(t)
	job := testbed.ShellJob("sleeper", 2, "sleep 10000 & sleep 10001; wait")
	job.Groups[0].Restart = &api.Restart{Attempts: ptr(5), Delay: ptr(time.Duration(0)), Interval: ptr(time.Hour)}
	m.register(job)
	before := m.allocations("sleeper", "runs", running(2))
	var old []int
	m.eventually("both tasks and their children run", func(context.Context) error {
		if old = m.pidsOf("sleep", "1000"); len(old) < 4 {
			return fmt.Errorf("processes: %v", old)
		}
		return nil
	})

	if err := syscall.Kill(m.Supervisor(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	after := m.allocations("sleeper", "both were restarted", func(list []*api.AllocationListStub) bool {
		if !running(2)(list) {
			return false
		}
		for _, a := range list {
			if s := a.TaskStates["task"]; s == nil || s.Restarts == 0 || s.State != api.TaskStateRunning {
				return false
			}
		}
		return true
	})
	if len(after) != len(before) {
		t.Errorf("%d allocations became %d: the restart policy was to act in place", len(before), len(after))
	}
	m.eventually("the lost tasks' processes are gone", func(context.Context) error {
		for _, pid := range old {
			if isSleep(pid) {
				return fmt.Errorf("process %d of a lost task still runs", pid)
			}
		}
		return nil
	})
	for _, a := range after {
		if !strings.Contains(events(a.TaskStates["task"]), api.EventLost) && !strings.Contains(events(a.TaskStates["task"]), "lost") {
			t.Errorf("%s: its events do not say that it was lost: %s", a.Name, events(a.TaskStates["task"]))
		}
	}
}

func isSleep(pid int) bool {
	argv := testbed.CommandLine(pid)
	return len(argv) > 0 && argv[0] == "sleep"
}

// taskPID finds the one process of the machine whose command line has a text.
func (m *machine) taskPID(text string) int {
	m.t.Helper()
	var pid int
	m.eventually("a process with "+text, func(context.Context) error {
		pids := m.pidsOf("sh", text)
		if len(pids) != 1 {
			return fmt.Errorf("processes: %v", pids)
		}
		pid = pids[0]
		return nil
	})
	return pid
}

func (m *machine) pidsOf(name, text string) []int {
	var pids []int
	for _, pid := range m.Processes() {
		argv := testbed.CommandLine(pid)
		if len(argv) > 1 && filepath.Base(argv[0]) == name && strings.Contains(strings.Join(argv[1:], " "), text) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// waitForLog reads a task's stdout from its beginning until a text appears.
func (m *machine) waitForLog(alloc, task, text string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	var b strings.Builder
	for frame, err := range m.Client.FS().Logs(ctx, alloc, client.LogOptions{Task: task, Follow: true}) {
		if err != nil {
			m.t.Fatalf("logs: %v; read so far:\n%s", err, tail(b.String(), 5))
		}
		b.Write(frame.Data)
		if strings.Contains(b.String(), text) {
			return b.String()
		}
	}
	m.t.Fatalf("the log ended without %q:\n%s\n%s", text, tail(b.String(), 5), m.whatHappened(alloc, task))
	return ""
}

// whatHappened tells, for a failed test, what an allocation's tasks went through and
// what one of them printed as errors.
func (m *machine) whatHappened(alloc, task string) string {
	var b strings.Builder
	a, _, err := m.Client.Allocations().Get(m.t.Context(), alloc, nil)
	if err != nil {
		return err.Error()
	}
	fmt.Fprintf(&b, "allocation %s is %s (%s), wanted %s (%s)\n", a.ID, a.ClientStatus, a.ClientDescription, a.DesiredStatus, a.DesiredDescription)
	for name, s := range a.TaskStates {
		for _, e := range s.Events {
			fmt.Fprintf(&b, "%s %s %s: %s\n", time.Unix(0, e.Time).UTC().Format("15:04:05.000"), name, e.Type, e.DisplayMessage)
		}
	}
	lines, err := m.Client.FS().Tail(m.t.Context(), alloc, task, api.LogStderr, 5)
	fmt.Fprintf(&b, "stderr of %s: %q %v", task, lines, err)
	return b.String()
}
