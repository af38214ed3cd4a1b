// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// introduce makes an introduction token with the command line, and returns its file.
func (m *members) introduce(args ...string) (path string) {
	m.t.Helper()
	path = filepath.Join(m.t.TempDir(), "token")
	m.all[0].eventually("an introduction token", func(ctx context.Context) error {
		cmd := m.net.Hosts()[0].Command(reeve, append([]string{"cluster", "token", "introduce"}, args...)...)
		out, err := runBounded(ctx, cmd)
		if err != nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "reeve-introduction-1-") {
			return fmt.Errorf("%w: %q", err, out)
		}
		return os.WriteFile(path, []byte(out), 0o600)
	})
	return path
}

// TestIntroducedMachinesStayInTheirPool joins with an introduction token, and tries to leave its
// pool by the configuration, by another use of the token, and by changed files of the member.
func TestIntroducedMachinesStayInTheirPool(t *testing.T) {
	m := newMembers(t, 1)
	m.form()
	founder, at := m.all[0], m.net.Hosts()[0].Addr
	if _, err := founder.Client.NodePools().Put(t.Context(), &api.NodePool{Name: "edge"}); err != nil {
		t.Fatal(err)
	}
	token := m.introduce("-pool", "edge", "-name", "edge-7")
	join := []string{"-join", at, "-join-token-file", token}
	refused := func(what, dir, say string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		out, err := runBounded(ctx, m.spare.Command(reeve, append(append([]string{"agent", "-data-dir", dir}, join...), args...)...))
		if err == nil || !strings.Contains(out, say) {
			t.Errorf("%s: %v; it does not say %q:\n%s", what, err, say, tail(out, 20))
		}
	}
	refused("another pool", t.TempDir(), `names node pool "default", and the introduction token of this machine puts it into pool "edge"`, "-node-pool", "default")
	refused("another name", t.TempDir(), `names this machine "web-1", and its introduction token "edge-7"`, "-node", "web-1")
	refused("a server", t.TempDir(), "token for nodes", "-server")

	node := m.on(m.spare, "edge-7")
	node.Args = join // without a name of its own
	node.start()
	is := func(pool string) func(context.Context) error {
		return func(ctx context.Context) error {
			list, _, err := founder.Client.Nodes().List(ctx, nil)
			for _, n := range list {
				if n.Name == "edge-7" && n.NodePool == pool && n.Status == api.NodeStatusReady {
					return nil
				}
			}
			return fmt.Errorf("nodes %+v: %v", list, err)
		}
	}
	founder.eventually("the node is in its pool", is("edge"))
	out, err := runBounded(t.Context(), m.net.Hosts()[0].Command(reeve, "node", "status", "edge-7"))
	if err != nil || !strings.Contains(out, "decided pool edge and name edge-7") {
		t.Errorf("node status: %v\n%s", err, out)
	}
	node.Kill()
	refused("a second machine", t.TempDir(), "admits one machine only")
	refused("another pool later", node.Dir, `puts it into pool "edge"`, "-node-pool", "default")
	file := filepath.Join(node.Dir, "identity", "member.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"node_pool": "edge"`, `"node_pool": "default"`, 1)
	if changed == string(text) {
		t.Fatalf("the file of the member names no pool:\n%s", text)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	node.start()
	node.eventually("the servers refuse the pool", func(context.Context) error {
		if out := node.Output(); !strings.Contains(out, `its introduction token puts it into pool`) {
			return fmt.Errorf("it says:\n%s", tail(out, 10))
		}
		return nil
	})
	list, _, err := founder.Client.Nodes().List(t.Context(), nil)
	for _, n := range list {
		if err != nil || n.Name == "edge-7" && n.NodePool != "edge" {
			t.Errorf("the node moved to pool %s: %v", n.NodePool, err)
		}
	}
}
