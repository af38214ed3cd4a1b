// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// earlierCommit is the last commit before restores and rotations were written to the log: its
// servers announce no feature level, and cannot read those commands.
const earlierCommit = "7ffcdd401a8864051ab66fc0eac35c447da01864"

// earlierReeve builds the binary of earlierCommit once.
var earlierReeve = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(reeve), "earlier")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	archive := exec.Command("git", "-C", root, "archive", "--format=tar", earlierCommit)
	unpack := exec.Command("tar", "-x", "-C", dir)
	var failure strings.Builder
	archive.Stderr = &failure
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		return "", err
	}
	if err := unpack.Start(); err != nil {
		return "", err
	}
	archiveErr, unpackErr := archive.Run(), unpack.Wait()
	if archiveErr != nil || unpackErr != nil {
		return "", fmt.Errorf("this test builds an earlier commit, and needs the history of the repository (git fetch --unshallow): git archive %s: %v %s %v", earlierCommit, archiveErr, failure.String(), unpackErr)
	}
	built := filepath.Join(dir, "reeve")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", built, "./cmd/reeve")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %v\n%s", earlierCommit, err, out)
	}
	return built, nil
})

// TestServersAreUpgradedOneByOne replaces the binary of three servers that run tasks, while a
// client writes. Changes that the earlier version cannot read are refused until all servers are
// upgraded. Afterwards the earlier version cannot read the state, and says so.
func TestServersAreUpgradedOneByOne(t *testing.T) {
	earlier, err := earlierReeve()
	if err != nil {
		t.Fatal(err)
	}
	m := newMembers(t, 3)
	for _, a := range m.all {
		a.Reeve = earlier
	}
	m.form()
	m.all[0].put(sleeper("web", 3))
	m.all[0].allocations("web", "runs", running(3))
	tasks := map[*machine][]int{}
	for _, a := range m.all {
		tasks[a] = taskProcesses(a)
	}

	last := m.leader(m.all[0])
	first := m.other(last)
	second := m.other(last, first)
	stop := m.writing(second)
	m.upgrade(first, second)
	m.upgrade(second, first)
	first.eventually("an upgraded server leads", func(ctx context.Context) error {
		_, err := first.Client.Servers().Transfer(ctx, "host-"+strconv.Itoa(slices.Index(m.all, first)+1))
		return err
	})
	name := "host-" + strconv.Itoa(slices.Index(m.all, last)+1)
	var file []byte
	first.eventually("a change that not all servers can read is refused", func(ctx context.Context) error {
		_, rotation := first.Client.Cluster().RotateCA(ctx, false)
		var restore error
		if file, restore = saved(ctx, first); restore == nil {
			_, restore = first.Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(file))
		}
		for _, err := range []error{rotation, restore} {
			if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "yet: server "+name+" runs Reeve ") {
				return fmt.Errorf("rotation: %v; restore: %v", rotation, restore)
			}
		}
		return nil
	})
	m.upgrade(last, first)
	if err := stop(); err != nil {
		t.Error(err)
	}
	first.eventually("a snapshot is restored after the upgrade", func(ctx context.Context) error {
		_, err := first.Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(file))
		return err
	})
	m.all[0].allocations("web", "still runs", running(3))
	for _, a := range m.all {
		if got := taskProcesses(a); !slices.Equal(got, tasks[a]) {
			t.Errorf("the tasks of a server have the processes %v, and had %v", got, tasks[a])
		}
	}

	follower := m.other(m.leader(first))
	follower.Kill()
	follower.Reeve = earlier
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	waitOutput(t, follower, "newer version of Reeve")
	follower.Kill()
	follower.Reeve = reeve
	follower.start()
	m.other(follower).put(sleeper("later", 0))
	follower.eventually("the server follows again", func(ctx context.Context) error {
		_, _, err := follower.Client.Jobs().Get(ctx, "later", &client.QueryOptions{Stale: true})
		return err
	})
}

// taskProcesses returns the sorted ids of the processes that sleep.
func taskProcesses(a *machine) (pids []int) {
	for _, pid := range a.Processes() {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.TrimSpace(string(text)) == "sleep" {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// saved returns a snapshot of the state.
func saved(ctx context.Context, a *machine) ([]byte, error) {
	body, err := a.Client.Operator().SaveSnapshot(ctx, false)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// upgrade restarts a server with the new binary, and waits until it has what the others have.
func (m *members) upgrade(a, other *machine) {
	m.t.Helper()
	if err := syscall.Kill(a.PID(), syscall.SIGTERM); err != nil {
		m.t.Fatal(err)
	}
	<-a.Exited()
	a.Reeve = reeve
	a.start()
	mark := "upgraded-" + a.Dir[len(a.Dir)-6:]
	other.eventually("a write while one server restarts", func(ctx context.Context) error {
		_, err := other.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper(mark, 0)})
		return err
	})
	a.eventually("the upgraded server follows", func(ctx context.Context) error {
		if _, _, err := a.Client.Jobs().Get(ctx, mark, &client.QueryOptions{Stale: true}); err != nil {
			return err
		}
		return m.allVote(ctx, a)
	})
}

// writing registers versions of a job through the other servers until stop is called, which
// reports an acknowledged version that is lost.
func (m *members) writing(through *machine) (stop func() error) {
	ctx, cancel := context.WithCancel(m.t.Context())
	done := make(chan int)
	go func() {
		acknowledged := 0
		for i := 1; ctx.Err() == nil; i++ {
			a := m.all[i%len(m.all)]
			if _, err := a.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sequenceJob("sequence", i)}); err == nil {
				acknowledged = i
			}
		}
		done <- acknowledged
	}()
	m.t.Cleanup(cancel)
	return func() error {
		cancel()
		acknowledged := <-done
		var last error
		through.eventually("the written job is read", func(ctx context.Context) error {
			job, _, err := through.Client.Jobs().Get(ctx, "sequence", nil)
			if err != nil {
				return err
			}
			if got, _ := strconv.Atoi(job.Meta["seq"]); got < acknowledged || acknowledged == 0 {
				last = fmt.Errorf("write %d was acknowledged, and the job has %d", acknowledged, got)
			}
			return nil
		})
		return last
	}
}

// waitOutput waits until an agent has written a text.
func waitOutput(t *testing.T, a *machine, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := a.Poll(ctx, 10*time.Millisecond, func(context.Context) error {
		if !strings.Contains(a.Output(), text) {
			return fmt.Errorf("it did not write %q:\n%s", text, tail(a.Output(), 20))
		}
		return nil
	})
	if err != nil && !strings.Contains(a.Output(), text) { // it may have ended afterwards
		t.Error(err)
	}
}
