// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"io"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
)

func TestRealForeignClientReadsLogsFilesAndRunsCommands(t *testing.T) {
	r := runReal(t)
	r.place(t, jobOf("service", shell("t", `echo first; echo text > f; echo second; exec sleep 60`)), "one")
	eventually(t, "the task has written", func() bool { return strings.Contains(r.logs(t, "one", "t"), "second") })
	config := nomad.DefaultConfig()
	config.Address = r.address
	c, err := nomad.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	alloc := &nomad.Allocation{ID: "one", NodeID: r.ID()}

	cancel := make(chan struct{})
	frames, errs := c.AllocFS().Logs(alloc, false, "t", "stdout", nomad.OriginStart, 0, cancel, nil)
	var out bytes.Buffer
	for frames != nil {
		select {
		case f, ok := <-frames:
			if !ok {
				frames = nil
				continue
			}
			out.Write(f.Data)
		case err := <-errs:
			t.Fatal(err)
		}
	}
	want(t, "logs", "first\nsecond\n", out.String())
	following := make(chan struct{})
	frames, errs = c.AllocFS().Logs(alloc, true, "t", "stdout", nomad.OriginEnd, 0, following, nil)
	select {
	case f := <-frames:
		want(t, "what a follower gets first", "first\nsecond\n", string(f.Data))
	case err := <-errs:
		t.Fatal(err)
	}
	close(following)
	body, err := c.AllocFS().ReadAt(alloc, "t/f", 2, -1, nil) // no limit
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	rest, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the rest of a file", "xt\n", string(rest))

	info, _, err := c.AllocFS().Stat(alloc, "t/f", nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "stat", []any{"f", int64(5)}, []any{info.Name, info.Size})

	var stdout, stderr bytes.Buffer
	code, err := c.Allocations().Exec(t.Context(), alloc, "t", false, []string{"/bin/sh", "-c", "cat; exit 4"},
		strings.NewReader("typed"), &stdout, &stderr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "exec", []any{4, "typed", ""}, []any{code, stdout.String(), stderr.String()})

	stats, err := c.Allocations().Stats(alloc, nil)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Tasks["t"].ResourceUsage.MemoryStats.RSS == 0 {
		t.Error("stats have no memory")
	}
	if err := c.Allocations().Signal(alloc, nil, "t", "SIGTERM"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the signal has ended the process", func() bool { return lastExit(r.servers.last("one").TaskStates["t"]) == 143 })
	want(t, "status", api.AllocClientPending, r.servers.last("one").ClientStatus)
}
