// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestARestoreOfAnotherClustersSnapshot restores the snapshot of one cluster in another one, as an
// operator: the second cluster keeps its authority, tokens and servers, its node keeps its task as
// an orphan, and the jobs of the first cluster run on the node of the second.
func TestARestoreOfAnotherClustersSnapshot(t *testing.T) {
	first, second := newMembers(t, 1), newMembers(t, 1)
	first.form()
	second.form()
	lost, home := first.all[0], second.all[0]
	lost.put(sleeper("moved", 1))
	lost.allocations("moved", "runs", running(1))
	file := filepath.Join(t.TempDir(), "first.snap")
	if err := os.WriteFile(file, lost.save(), 0o600); err != nil {
		t.Fatal(err)
	}
	lost.Destroy()

	home.put(sleeper("own", 1))
	home.allocations("own", "runs", running(1))
	var tasks []int
	home.eventually("the task is a process", func(context.Context) error {
		if tasks = second.tasks(); len(tasks) != 1 {
			return fmt.Errorf("the tasks have the processes %v", tasks)
		}
		return nil
	})
	keeps := func() (kept string) {
		home.eventually("the cluster's own secrets", func(ctx context.Context) error {
			ca, err := home.Client.Cluster().CA(ctx)
			if err != nil {
				return err
			}
			tokens, err := home.Client.Cluster().JoinTokens(ctx)
			if err != nil {
				return err
			}
			list, _ := second.seats(home)
			operator, err := os.ReadFile(filepath.Join(home.Dir, "operator.token"))
			kept = fmt.Sprintln(ca.Roots, tokens.Server, tokens.Node, list, string(operator))
			return err
		})
		return kept
	}
	before := keeps()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := runBounded(ctx, second.net.Hosts()[0].Command(reeve, "operator", "snapshot", "restore", "-yes", file))
	if err != nil {
		t.Fatalf("restore: %v\n%s", err, out)
	}
	for _, say := range []string{
		"The snapshot is of another cluster.\n", "Kept from this cluster: certificate authority, tokens, servers, excluded members.\n",
		"reeve operator orphans", "reeve domain fresh",
	} {
		if !strings.Contains(out, say) {
			t.Errorf("the command does not say %q:\n%s", say, out)
		}
	}
	if after := keeps(); after != before {
		t.Errorf("the cluster has\n%s\nand had\n%s", after, before)
	}
	home.eventually("the task of the job that the snapshot lacks is an orphan", func(ctx context.Context) error {
		list, _, err := home.Client.Domains().Orphans(ctx, nil)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("orphans %+v: %v", list, err)
		}
		return nil
	})
	if now := second.tasks(); !slices.Equal(now, tasks) {
		t.Errorf("the tasks have the processes %v, and had %v", now, tasks)
	}
	var nodes []*api.NodeListStub
	home.eventually("the node of this cluster is ready, and that of the other one is down", func(ctx context.Context) (err error) {
		if nodes, _, err = home.Client.Nodes().List(ctx, nil); err != nil {
			return err
		}
		var status []string
		for _, n := range nodes {
			status = append(status, n.Status)
		}
		if slices.Sort(status); !slices.Equal(status, []string{api.NodeStatusDown, api.NodeStatusReady}) {
			return fmt.Errorf("the nodes are %q", status)
		}
		return nil
	})
	i := slices.IndexFunc(nodes, func(n *api.NodeListStub) bool { return n.Status == api.NodeStatusReady })
	home.allocations("moved", "runs on the node of this cluster", func(list []*api.AllocationListStub) bool {
		return running(1)(slices.DeleteFunc(slices.Clone(list), func(a *api.AllocationListStub) bool { return a.NodeID != nodes[i].ID }))
	})
	token := second.token("node")
	node := second.on(second.spare, "later", "-join", second.net.Hosts()[0].Addr, "-join-token-file", token)
	node.start()
	node.eventually("another node joins", func(context.Context) error {
		if !strings.Contains(node.Output(), "joined the cluster") {
			return fmt.Errorf("it says:\n%s", tail(node.Output(), 5))
		}
		return nil
	})
}
