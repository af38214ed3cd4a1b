// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// TestFullDisk fills the disk under a running agent. Writes are refused with
// words, what was acknowledged is there when there is room again.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test mounts a small disk: run it as root")
	}
	m := unstarted(t)
	if err := syscall.Mount("reeve-test", m.Dir, "tmpfs", 0, "size=160m"); err != nil {
		t.Fatalf("mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(m.Dir, syscall.MNT_DETACH) })
	m.start()
	m.waitReady()
	m.register(sequenceJob("before", 1))
	ballast := filepath.Join(m.Dir, "ballast")
	fill(t, ballast)

	var refusal error
	acknowledged := 0
	padding := strings.Repeat("x", 200<<10)
	for i := range 2000 { // the log's segment is preallocated: it takes a while to need room
		job := sequenceJob("during", i)
		job.Meta["padding"] = fmt.Sprint(i, padding)
		_, refusal = m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job})
		if refusal != nil {
			break
		}
		acknowledged = i
	}
	if refusal == nil {
		t.Fatal("a full disk refused nothing")
	}
	// What is left of the segment is enough for small entries yet.
	writable := func(ctx context.Context) error {
		health, err := m.Client.Status().Health(ctx)
		if err == nil && !health.Server.Ok {
			err = fmt.Errorf("health: %s", health.Server.Message)
		}
		return err
	}
	for i := acknowledged + 1; ; i++ {
		job := sequenceJob("during", i)
		job.Meta["padding"] = padding[:4<<10]
		if _, err := m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job}); err == nil {
			acknowledged = i
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		err := m.Poll(ctx, 10*time.Millisecond, writable)
		cancel()
		if err != nil {
			break // it is full for good
		}
	}

	m.Kill()
	m.start() // on the full disk
	m.eventually("health says that the server is degraded, and why", func(ctx context.Context) error {
		health, err := m.Client.Status().Health(ctx)
		if err != nil {
			return err
		}
		if s := health.Server; s == nil || s.Ok || !strings.Contains(s.Message, "degraded") || !strings.Contains(s.Message, "no space left") || !strings.Contains(s.Message, "free") {
			return fmt.Errorf("health: %+v", s)
		}
		return nil
	})
	for _, stale := range []bool{true, false} {
		job, _, err := m.Client.Jobs().Get(t.Context(), "during", &client.QueryOptions{Stale: stale})
		if err != nil {
			t.Fatalf("a read on the full disk: %v", err)
		}
		if got, _ := strconv.Atoi(job.Meta["seq"]); got < acknowledged {
			t.Errorf("a read on the full disk: the job is at %d, %d was acknowledged", got, acknowledged)
		}
	}
	if _, err := m.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: sequenceJob("refused", 1)}); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("a write on the full disk: %v", err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.eventually("writes come back by themselves", writable)
	m.eventually("all that was acknowledged is there", func(ctx context.Context) error {
		if _, _, err := m.Client.Jobs().Get(ctx, "before", nil); err != nil {
			return err
		}
		job, _, err := m.Client.Jobs().Get(ctx, "during", nil)
		if err != nil {
			return err
		}
		if got := job.Meta["seq"]; got != fmt.Sprint(acknowledged) && got != fmt.Sprint(acknowledged+1) {
			return fmt.Errorf("%d was acknowledged, the job is at %s", acknowledged, got)
		}
		return nil
	})
	m.register(sequenceJob("after", 1))
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	for len(block) > 512 {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}
