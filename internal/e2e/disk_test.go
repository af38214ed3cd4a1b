// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/api"
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
	if msg := refusal.Error(); !strings.Contains(msg, "space") && !strings.Contains(msg, "disk") {
		t.Errorf("the refusal does not say that the disk is full: %v", refusal)
	}

	m.Kill()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.start()
	m.waitReady()
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
