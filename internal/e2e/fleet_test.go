// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// fleet is a server and nodes, each an agent of its own. Nodes must be heard
// of within three seconds.
type fleet struct {
	t      *testing.T
	server *machine
	nodes  []*machine
}

// quickSilence has nodes given up soon.
const quickSilence = `server {
  min_heartbeat_ttl = "2s"
  heartbeat_grace   = "1s"
}
`

func newFleet(t *testing.T, nodes int) *fleet {
	t.Helper()
	return newFleetWith(t, nodes, "")
}

// newFleetWith is a fleet whose server has more in its configuration.
func newFleetWith(t *testing.T, nodes int, more string) *fleet {
	t.Helper()
	f := &fleet{t: t, server: unstarted(t)}
	f.server.Args = []string{"-server", "-config", f.server.configured(quickSilence + more)}
	f.server.start()
	f.server.eventually("the server answers", func(ctx context.Context) error {
		_, _, err := f.server.Client.Nodes().List(ctx, nil)
		return err
	})
	for range nodes {
		f.join()
	}
	return f
}

// join starts another node, and waits until it is ready.
func (f *fleet) join() *machine {
	f.t.Helper()
	n, i := unstarted(f.t), len(f.nodes)
	n.Args = []string{
		"-client", "-node", fmt.Sprintf("node-%d", i), "-servers", "http://" + f.server.Addr, "-config", n.configured(portsOfNode(i)),
	}
	n.start()
	f.nodes = append(f.nodes, n)
	f.status(n, api.NodeStatusReady)
	return n
}

// configured writes a configuration file for the agent.
func (m *machine) configured(text string) string {
	m.t.Helper()
	path := filepath.Join(m.Dir, "agent.hcl")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// portsOfNode gives a node ports that no other node of this machine has. Images have room, whatever else fills the
// disk of this machine.
func portsOfNode(i int) string {
	first := 20000 + 1000*i
	return fmt.Sprintf(`client {
  reserved {
    reserved_ports = "%d-%d,%d-32000"
  }
  container {
    image_gc {
      disk_high = 1
      disk_low  = 1
    }
  }
}
`, 19999, max(first-1, 19999), first+1000)
}

// name is the name of a fleet's node.
func (f *fleet) name(n *machine) string {
	for i, m := range f.nodes {
		if m == n {
			return fmt.Sprintf("node-%d", i)
		}
	}
	return ""
}

func (f *fleet) find(ctx context.Context, n *machine) (*api.NodeListStub, error) {
	list, _, err := f.server.Client.Nodes().List(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, stub := range list {
		if stub.Name == f.name(n) {
			return stub, nil
		}
	}
	return nil, fmt.Errorf("%s is not registered", f.name(n))
}

// status waits until a node has a status, and returns it.
func (f *fleet) status(n *machine, status string) *api.NodeListStub {
	f.t.Helper()
	var node *api.NodeListStub
	f.server.eventually(f.name(n)+" is "+status, func(ctx context.Context) (err error) {
		if node, err = f.find(ctx, n); err == nil && node.Status != status {
			err = fmt.Errorf("it is %s (%s)", node.Status, node.StatusDescription)
		}
		return err
	})
	return node
}

// on are the allocations that run, or should, by node name.
func on(list []*api.AllocationListStub, node string) (n int) {
	for _, a := range list {
		if a.NodeName == node && a.ClientStatus == api.AllocClientRunning && a.DesiredStatus == api.AllocDesiredRun {
			n++
		}
	}
	return n
}

// reeve runs the command line against the fleet's server.
func (f *fleet) reeve(args ...string) string {
	f.t.Helper()
	return f.server.reeve(args...)
}

// reeve runs a command of the binary.
func (m *machine) reeve(args ...string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, reeve, args...)
	cmd.Env = append(os.Environ(), "REEVE_ADDR=http://"+m.Addr, "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("reeve %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
