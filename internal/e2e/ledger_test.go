// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestLostLedgerStartsNothingTwice loses the agent's records in several ways while
// its tasks run: each instance goes on as the process that it was, once, and can be
// stopped.
func TestLostLedgerStartsNothingTwice(t *testing.T) {
	const count = 15
	f := newFleet(t, 1)
	node := f.nodes[0]
	f.server.register(movable("web", count))
	f.server.allocations("web", "all run", running(count))
	path := filepath.Join(node.Dir, "node", "node.db")
	before := f.sleeping(node, count)
	for _, c := range []struct {
		what    string
		lose    func(t *testing.T)
		refused bool // until the file is moved away
	}{
		{"deleted", func(t *testing.T) { f.try(os.Remove(path)) }, false},
		{"emptied", func(t *testing.T) { f.try(os.Truncate(path, 0)) }, false},
		{"cut short", func(t *testing.T) { f.try(os.Truncate(path, 16<<10)) }, true},
		{"zeroed", func(t *testing.T) { f.spoil(path, func(b []byte) { clear(b) }) }, true},
		{"damaged", func(t *testing.T) {
			f.spoil(path, func(b []byte) { copy(b[8192:], bytes.Repeat([]byte("x"), len(b)-8192)) })
		}, true},
	} {
		node.Kill()
		c.lose(t)
		node.start()
		if c.refused {
			select {
			case <-node.Exited():
			case <-wait.Limit(t, patience):
				t.Fatalf("%s: the agent goes on", c.what)
			}
			if out := node.Output(); !strings.Contains(out, "is damaged") || !strings.Contains(out, "move it away and start the agent again") || strings.Contains(out, "goroutine ") {
				t.Fatalf("%s: the agent says:\n%s", c.what, out)
			}
			f.try(os.Rename(path, path+".damaged"))
			node.start()
		}
		f.reported(node)
		f.server.allocations("web", c.what+", all run", running(count))
		if after := f.sleeping(node, count); after != before {
			t.Errorf("%s: the processes were %s, and are now %s", c.what, before, after)
		}
	}
	list, _, err := f.server.Client.Jobs().Allocations(t.Context(), "web", true, nil)
	f.try(err)
	if len(list) != count {
		t.Errorf("the servers have %d allocations of the job, want %d", len(list), count)
	}
	f.reeve("job", "stop", "web")
	f.eventually("everything is stopped", func() error {
		if n := sleepers(node); n != 0 {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
}

// sleeping names the processes of a node once there are so many.
func (f *fleet) sleeping(node *machine, count int) (pids string) {
	f.t.Helper()
	f.eventually(fmt.Sprintf("%d processes run", count), func() error {
		if n := sleepers(node); n != count {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
	return fmt.Sprint(sleepingOn(node))
}

// reported waits until an agent that was started has registered its node.
func (f *fleet) reported(node *machine) {
	f.t.Helper()
	f.eventually("the node is registered again", func() error {
		if !strings.Contains(node.Output(), "node is registered") {
			return fmt.Errorf("the agent says:\n%s", tail(node.Output(), 5))
		}
		return nil
	})
	f.status(node, api.NodeStatusReady)
}

// spoil changes a file in place.
func (f *fleet) spoil(path string, change func([]byte)) {
	f.t.Helper()
	b, err := os.ReadFile(path)
	f.try(err)
	change(b)
	f.try(os.WriteFile(path, b, 0o600))
}

func (f *fleet) try(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
