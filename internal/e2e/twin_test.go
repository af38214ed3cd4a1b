// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// A second agent on a copy of a node's data directory is refused, and runs
// nothing. When the first one is gone it is the node.
func TestCopiedDataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	first := f.nodes[0]
	f.server.register(movable("web", 1))
	was := f.server.allocations("web", "1 runs", running(1))[0]
	first.Kill()
	twin := unstarted(t)
	if out, err := exec.Command("cp", "-a", first.Dir+"/.", twin.Dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory: %v\n%s", err, out)
	}
	twin.Args = append(slices.Clone(first.Args[:len(first.Args)-1]), filepath.Join(twin.Dir, "agent.hcl"))
	first.start()
	f.status(first, api.NodeStatusReady)
	first.eventually("it is registered again", func(context.Context) error {
		if !strings.Contains(first.Output(), "node is registered") {
			return fmt.Errorf("it says:\n%s", tail(first.Output(), 5))
		}
		return nil
	})
	twin.start()
	twin.eventually("the second agent says that it is refused", func(context.Context) error {
		if out := twin.Output(); !strings.Contains(out, "another agent speaks for node node-0") || !strings.Contains(out, "copy of the other's data directory") {
			return fmt.Errorf("it says:\n%s", tail(out, 5))
		}
		return nil
	})
	if n, m := sleepers(first), sleepers(twin); n != 1 || m != 0 {
		t.Errorf("%d processes run on the first one's directory, and %d on the copy", n, m)
	}
	if a := f.server.allocations("web", "1 runs", running(1))[0]; a.ID != was.ID || a.TaskStates["main"] != nil && a.TaskStates["main"].Restarts > 0 {
		t.Errorf("it was started anew: %+v", a)
	}
	t.Logf("the second agent says:\n%s", tail(twin.Output(), 3))
	first.die()
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	twin.eventually("the second agent is the node", func(context.Context) error {
		if n := sleepers(twin); n != 1 {
			return fmt.Errorf("%d processes run on the copy", n)
		}
		return nil
	})
	f.server.allocations("web", "1 runs", running(1))
}
