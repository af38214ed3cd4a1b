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
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/network"
)

// members is a cluster of servers that are nodes too, each on a host of its own. The network
// has one host more, for others.
type members struct {
	t     *testing.T
	net   *network.Network
	all   []*machine
	spare *network.Host
}

// newMembers returns hosts with agents that are not started yet.
func newMembers(t *testing.T, n int) *members {
	t.Helper()
	net, err := network.New(n + 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	})
	m := &members{t: t, net: net, spare: net.Hosts()[n]}
	for i := range n {
		m.all = append(m.all, m.on(net.Hosts()[i], fmt.Sprint("host-", i+1)))
	}
	return m
}

// on returns an agent on a host, which is not started yet.
func (m *members) on(h *network.Host, name string, args ...string) *machine {
	m.t.Helper()
	tm, err := testbed.On(h, reeve, append([]string{"-node", name}, args...)...)
	if err != nil {
		m.t.Fatal(err)
	}
	a := &machine{tm, m.t}
	m.t.Cleanup(func() {
		if m.t.Failed() {
			m.t.Logf("output of %s:\n%s", name, tail(a.Output(), 60))
		}
		a.Destroy()
	})
	return a
}

// form founds a cluster, and returns when all servers vote.
func (m *members) form() {
	m.t.Helper()
	m.all[0].Args = append(m.all[0].Args, "-server", "-client", "-bootstrap")
	m.all[0].start()
	token := m.token("server")
	for _, a := range m.all[1:] {
		a.Args = append(a.Args, "-server", "-client", "-join", m.net.Hosts()[0].Addr, "-join-token-file", token)
		a.start()
	}
	for _, a := range m.all {
		a.eventually("all servers vote", func(ctx context.Context) error { return m.allVote(ctx, a) })
	}
}

// token writes a join token to a file, once the cluster has it.
func (m *members) token(kind string) (path string) {
	m.t.Helper()
	path = filepath.Join(m.t.TempDir(), kind)
	m.all[0].eventually("the founder has tokens", func(ctx context.Context) error {
		tokens, err := m.all[0].Client.Cluster().JoinTokens(ctx)
		if err != nil {
			return err
		}
		text := map[string]string{"server": tokens.Server, "node": tokens.Node}[kind]
		return os.WriteFile(path, []byte(text+"\n"), 0o600)
	})
	return path
}

func (m *members) allVote(ctx context.Context, a *machine) error {
	list, err := a.Client.Servers().List(ctx)
	if err != nil {
		return err
	}
	voters := 0
	for _, s := range list {
		if s.Voter {
			voters++
		}
	}
	if voters != len(m.all) {
		return fmt.Errorf("%d of %d servers vote", voters, len(m.all))
	}
	return nil
}

// leader returns the server that leads, in the view of an agent.
func (m *members) leader(seen *machine) *machine {
	m.t.Helper()
	var leader *machine
	seen.eventually("a leader", func(ctx context.Context) error {
		address, err := seen.Client.Status().Leader(ctx)
		for i, a := range m.all {
			if err == nil && address == m.net.Hosts()[i].Addr+":"+testbed.MemberPort {
				leader = a
				return nil
			}
		}
		return fmt.Errorf("leader %q: %v", address, err)
	})
	return leader
}

// other returns a member that is not one of those.
func (m *members) other(not ...*machine) *machine {
	for _, a := range m.all {
		if !slices.Contains(not, a) {
			return a
		}
	}
	return nil
}

func sleeper(id string, count int) *api.Job { return testbed.ShellJob(id, count, "exec sleep 86400") }

// TestThreeMachinesSurviveTheirLeader forms a cluster, runs a job, and kills the leader: the
// others answer, no task ends, and the leader returns as a follower.
func TestThreeMachinesSurviveTheirLeader(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	follower := m.other(m.leader(m.all[0]))
	follower.register(sleeper("web", 3))
	before := follower.allocations("web", "runs", running(3))
	leader := m.leader(follower)
	tasks := leader.Processes()

	leader.Kill()
	rest := m.other(leader)
	began := time.Now()
	later := sleeper("later", 1) // not on the leader's machine, which nobody misses yet
	later.Constraints = []*api.Constraint{{LTarget: "${node.unique.name}", RTarget: fmt.Sprint("host-", slices.Index(m.all, rest)+1), Operand: "="}}
	rest.eventually("the next leader takes a job", func(ctx context.Context) error {
		// An error says that the dead leader may have had the request.
		_, err := rest.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: later})
		return err
	})
	t.Logf("a write is acknowledged %s after the leader's death", time.Since(began).Round(time.Millisecond))
	rest.allocations("later", "runs", running(1))
	for _, pid := range tasks {
		if !slices.Contains(leader.Processes(), pid) {
			t.Errorf("process %d ended with the leader", pid)
		}
	}
	rest.eventually("an operator reads that the quorum is at risk", func(ctx context.Context) error {
		list, err := rest.Client.Servers().Attention(ctx)
		var kinds []string
		for _, a := range list {
			kinds = append(kinds, a.Kind)
		}
		if err == nil && !slices.Equal(kinds, []string{api.AttentionQuorum, api.AttentionServer}) {
			err = fmt.Errorf("attention to %q", kinds)
		}
		return err
	})

	leader.start()
	leader.eventually("the former leader follows", func(ctx context.Context) error { return m.allVote(ctx, leader) })
	after := leader.allocations("web", "runs", running(3))
	ids := func(list []*api.AllocationListStub) []string {
		var ids []string
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		slices.Sort(ids)
		return ids
	}
	if !slices.Equal(ids(before), ids(after)) {
		t.Errorf("allocations before %v, after %v", ids(before), ids(after))
	}
}

// TestAPlannedStopHandsLeadershipOver stops the leader while a client writes through another
// server: every write succeeds.
func TestAPlannedStopHandsLeadershipOver(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	rest := m.other(leader)
	var slowest time.Duration
	write := func(i int) {
		t.Helper()
		began := time.Now()
		rest.register(sleeper(fmt.Sprint("job-", i), 0))
		slowest = max(slowest, time.Since(began))
	}
	for i := range 20 {
		write(i)
	}
	if err := syscall.Kill(leader.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n := 20
	for ended := false; !ended; n++ {
		write(n)
		select {
		case <-leader.Exited():
			ended = true
		default:
		}
	}
	write(n)
	t.Logf("%d writes, the slowest took %s", n+1, slowest.Round(time.Millisecond))
}

// TestAPartitionedLeaderCommitsNothing cuts the leader off: its clients get no acknowledgement,
// the majority goes on, and the state of the majority is everyone's in the end.
func TestAPartitionedLeaderCommitsNothing(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	host := m.net.Hosts()[slices.Index(m.all, leader)]
	if err := host.Disconnect(); err != nil {
		t.Fatal(err)
	}
	lone := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		_, err := leader.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper("lone", 0)})
		lone <- err
	}()
	rest := m.other(leader)
	rest.eventually("the majority has a leader of its own", func(ctx context.Context) error {
		if address, err := rest.Client.Status().Leader(ctx); err != nil || address == "" || strings.HasPrefix(address, host.Addr+":") {
			return fmt.Errorf("leader %q: %v", address, err)
		}
		return nil
	})
	rest.register(sleeper("kept", 0))
	if err := <-lone; err == nil {
		t.Error("a leader without followers acknowledged a job")
	}
	if err := host.Connect(); err != nil {
		t.Fatal(err)
	}
	leader.eventually("the former leader has the majority's state", func(ctx context.Context) error {
		_, _, err := leader.Client.Jobs().Get(ctx, "kept", nil)
		return err
	})
	if _, _, err := leader.Client.Jobs().Get(t.Context(), "lone", nil); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("the job that nobody acknowledged: %v", err)
	}
}

// TestAServerThatMovedIsFoundAgain gives a stopped server another address: the others learn it.
func TestAServerThatMovedIsFoundAgain(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	moved := m.other(m.leader(m.all[0]))
	host := m.net.Hosts()[slices.Index(m.all, moved)]
	moved.Kill()
	if err := host.Move(50); err != nil {
		t.Fatal(err)
	}
	moved.start()
	rest := m.other(moved)
	rest.register(sleeper("meanwhile", 0))
	moved.eventually("the server has what was written meanwhile", func(ctx context.Context) error {
		_, _, err := moved.Client.Jobs().Get(ctx, "meanwhile", &client.QueryOptions{Stale: true})
		return err
	})
	rest.eventually("its address is known", func(ctx context.Context) error {
		list, err := rest.Client.Servers().List(ctx)
		if err != nil || !slices.ContainsFunc(list, func(s *api.ServerStatus) bool { return s.Address == host.Addr+":"+testbed.MemberPort && s.Voter }) {
			return fmt.Errorf("servers %+v: %v", list, err)
		}
		return nil
	})
}

// TestANodeJoinsThroughAnyMember adds a node through a follower, and excludes it again.
func TestANodeJoinsThroughAnyMember(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	follower := m.other(m.leader(m.all[0]))
	at := m.net.Hosts()[slices.Index(m.all, follower)].Addr
	node := m.on(m.spare, "host-4", "-join", at, "-join-token-file", m.token("node"), "-node-class", "spare")
	node.start()
	var id string
	follower.eventually("the node is ready", func(ctx context.Context) error {
		list, _, err := follower.Client.Nodes().List(ctx, nil)
		for _, n := range list {
			if n.Name == "host-4" && n.Status == api.NodeStatusReady {
				id = n.ID
				return nil
			}
		}
		return fmt.Errorf("nodes %+v: %v", list, err)
	})
	job := sleeper("there", 1)
	job.Constraints = []*api.Constraint{{LTarget: "${node.class}", RTarget: "spare", Operand: "="}}
	follower.register(job)
	there := follower.allocations("there", "runs", running(1))
	if there[0].NodeID != id {
		t.Errorf("it runs on %s, not on %s", there[0].NodeID, id)
	}
	if _, err := follower.Client.FS().List(t.Context(), there[0].ID, "/"); err != nil {
		t.Errorf("files of a task on the node, through a follower: %v", err)
	}
	if _, err := node.Client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: sleeper("forbidden", 0)}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a user of the node's machine registers a job with the node's rights: %v", err)
	}
	if err := follower.Client.Cluster().Revoke(t.Context(), id, "stolen"); err != nil {
		t.Fatal(err)
	}
	follower.eventually("the excluded node is lost", func(ctx context.Context) error {
		n, _, err := follower.Client.Nodes().Get(ctx, id, nil)
		if err != nil || n.Status != api.NodeStatusDown {
			return fmt.Errorf("node %+v: %v", n, err)
		}
		return nil
	})
}

// TestMachinesThatMayNotJoin tries what users get wrong. Each attempt has its sentence and the
// next step, and changes nothing.
func TestMachinesThatMayNotJoin(t *testing.T) {
	m := newMembers(t, 1)
	m.form()
	founder := m.net.Hosts()[0].Addr
	server, node := m.token("server"), m.token("node")
	text, err := os.ReadFile(server)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parts := strings.Split(strings.TrimSpace(string(text)), "-")
	swapped := func(i int, with string) string {
		other := slices.Clone(parts)
		other[i] = with
		return write(strings.Join(other, "-"))
	}
	old := t.TempDir()
	if err := os.MkdirAll(filepath.Join(old, "server", "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	operator := filepath.Join(m.all[0].Dir, "operator.token")
	for what, c := range map[string]struct {
		args []string
		say  []string
	}{
		"no token":                    {[]string{"-server", "-join", founder}, []string{"REEVE_JOIN_TOKEN"}},
		"a token that was cut short":  {[]string{"-server", "-join", founder, "-join-token-file", write(string(text[:40]))}, []string{"expected 5", "REEVE_JOIN_TOKEN"}},
		"a token for nodes":           {[]string{"-server", "-join", founder, "-join-token-file", node}, []string{"token for nodes", "reeve cluster token show server"}},
		"a token for servers":         {[]string{"-join", founder, "-join-token-file", server}, []string{"token for servers", "reeve cluster token show node"}},
		"an operator's token":         {[]string{"-join", founder, "-join-token-file", operator}, []string{"operator's token", "reeve cluster token show"}},
		"a secret that is not valid":  {[]string{"-server", "-join", founder, "-join-token-file", swapped(4, strings.Repeat("0", 25))}, []string{"not valid", "reeve cluster token show server"}},
		"a token of another cluster":  {[]string{"-server", "-join", founder, "-join-token-file", swapped(3, strings.Repeat("0", 50))}, []string{"another cluster"}},
		"the directory of another":    {[]string{"-server", "-join", founder, "-join-token-file", server, "-data-dir", old}, []string{"empty data directory"}},
		"an address of another":       {[]string{"-server", "-join", founder, "-join-token-file", server, "-advertise", founder}, []string{"-advertise"}},
		"an address nobody reaches":   {[]string{"-server", "-join", founder, "-join-token-file", server, "-advertise", "10.213.0.77:4646"}, []string{"cannot reach", "-advertise"}},
		"both at once":                {[]string{"-bootstrap", "-join", founder}, []string{"first server only"}},
		"development and a cluster":   {[]string{"-dev", "-bootstrap"}, []string{"-dev"}},
		"another region":              {[]string{"-server", "-join", founder, "-join-token-file", server, "-config", writeConfig(t, `region = "west"`)}, []string{"region"}},
		"servers that nobody invited": {[]string{"-config", writeConfig(t, "server {\n  enabled = true\n  bootstrap_expect = 3\n}")}, []string{"-bootstrap"}},
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := m.spare.Command(reeve, append([]string{"agent", "-data-dir", t.TempDir()}, c.args...)...)
			out, err := runBounded(ctx, cmd)
			if err == nil || cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("it ended with %v, want exit code 1", err)
			}
			for _, say := range c.say {
				if !strings.Contains(out, say) {
					t.Errorf("it does not say %q:\n%s", say, tail(out, 20))
				}
			}
			if strings.Contains(out, parts[4]) {
				t.Errorf("it prints the secret:\n%s", out)
			}
		})
	}
	list, err := m.all[0].Client.Servers().List(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("servers afterwards: %d, %v", len(list), err)
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runBounded runs a command until it ends, or kills it with the context.
func runBounded(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	return out.String(), err
}
