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
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/network"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// refused runs an agent on a host, which has to end with exit code 1 and a sentence.
func (m *members) refused(h *network.Host, what, say string, args ...string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := h.Command(reeve, append([]string{"agent", "-http-addr", "0.0.0.0:4646"}, args...)...)
	out, err := runBounded(ctx, cmd)
	if err == nil || cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		m.t.Errorf("%s: the agent ended with %v, want exit code 1", what, err)
	}
	if !strings.Contains(out, "Error: "+say+"\n") {
		m.t.Errorf("%s: the agent does not say %q:\n%s", what, say, tail(out, 10))
	}
}

// copyOf returns a copy of a machine's data directory.
func copyOf(t *testing.T, from *machine) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("cp", "-a", from.Dir+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory: %v\n%s", err, out)
	}
	os.Remove(filepath.Join(dir, "lock"))
	return dir
}

// ends waits until an agent has ended.
func (m *machine) ends(what string) {
	m.t.Helper()
	select {
	case <-m.Exited():
	case <-wait.Limit(m.t, patience):
		m.t.Fatalf("%s continues:\n%s", what, tail(m.Output(), 10))
	}
}

// seats lists the servers with their addresses, as the leader knows them.
func (m *members) seats(seen *machine) (list []string, ids map[string]string) {
	m.t.Helper()
	ids = map[string]string{}
	seen.eventually("the servers are listed", func(ctx context.Context) error {
		servers, err := seen.Client.Servers().List(ctx)
		list = nil
		for _, s := range servers {
			list = append(list, s.Name+" "+s.Address)
			ids[s.Name] = s.ID
		}
		return err
	})
	slices.Sort(list)
	return list, ids
}

// attention waits until an operator reads a sentence with a next step.
func (m *machine) attention(message string) {
	m.t.Helper()
	m.eventually("attention: "+message, func(ctx context.Context) error {
		list, err := m.Client.Servers().Attention(ctx)
		var all []string
		for _, a := range list {
			if strings.Contains(a.Message, message) {
				return nil
			}
			all = append(all, a.Message)
		}
		return fmt.Errorf("attention to %q: %v", all, err)
	})
}

// TestACopyOfAServerIsRefused starts an agent with a copy of the data directory of a server: while
// the server runs, the copy ends before it takes part in anything. If the copy took the place of a
// server that was stopped, that one ends when it returns.
func TestACopyOfAServerIsRefused(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	original := m.other(leader)
	at := m.net.Hosts()[slices.Index(m.all, original)].Addr
	before, ids := m.seats(leader)
	name := fmt.Sprint("host-", slices.Index(m.all, original)+1)
	id := api.ShortID(ids[name])
	sentence := func(running, second string) string {
		return fmt.Sprintf("server %s (%s) runs at %s:4646 already, and a second process has its identity at %s:4646: the data directory of one of them is a copy; "+
			"stop the copy, and start it with an empty data directory and a join token", id, name, running, second)
	}
	original.eventually("the server remembers its address", func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(original.Dir, "identity", "member.json"))
		if !strings.Contains(string(text), at+":4646") {
			return fmt.Errorf("it remembers %s: %v", text, err)
		}
		return nil
	})
	dir := copyOf(t, original)
	m.refused(m.spare, "a copy of a server that runs", sentence(at, m.spare.Addr), "-data-dir", dir, "-server", "-node", name)
	if after, _ := m.seats(leader); !slices.Equal(before, after) {
		t.Errorf("the servers are %v, and were %v", after, before)
	}

	original.Kill()
	twin := m.on(m.spare, name, "-server")
	os.RemoveAll(twin.Dir)
	twin.Dir = dir
	twin.start()
	rest := m.other(original)
	rest.eventually("the copy took the place of the server", func(ctx context.Context) error {
		list, err := rest.Client.Servers().List(ctx)
		if err != nil || !slices.ContainsFunc(list, func(s *api.ServerStatus) bool {
			return s.Address == m.spare.Addr+":4646" && s.Status == api.ServerAlive
		}) {
			return fmt.Errorf("servers %v: %v", list, err)
		}
		return nil
	})
	original.start()
	original.ends("the original")
	if say := sentence(m.spare.Addr, at); !strings.Contains(original.Output(), "Error: "+say) {
		t.Errorf("the original does not say %q:\n%s", say, tail(original.Output(), 10))
	}
	rest.attention("Machine " + name + " was refused: server " + id + " (" + name + ") runs at " + m.spare.Addr + ":4646 already")
	rest.put(sleeper("later", 0))
}

// TestADirectoryOfAnotherClusterIsRefused starts a server with the join token of another cluster
// than the one of its data directory, and with a token of its own that was replaced.
func TestADirectoryOfAnotherClusterIsRefused(t *testing.T) {
	m := newMembers(t, 1)
	m.form()
	token := m.token("server")
	stranger := m.on(m.spare, "stranger", "-server", "-bootstrap")
	stranger.start()
	stranger.put(sleeper("mine", 0))
	ca, err := stranger.Client.Cluster().CA(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stranger.Kill()
	cluster, err := os.ReadFile(filepath.Join(stranger.Dir, "identity", "member.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(cluster), `"cluster": "`)
	clusterID, _, _ := strings.Cut(text, `"`)
	say := "this machine is a member of cluster " + clusterID + ", and the join token belongs to another cluster: start it without the token, or with an empty data directory"
	m.refused(m.spare, "the directory of another cluster", say, "-data-dir", stranger.Dir, "-server", "-node", "stranger", "-join", m.net.Hosts()[0].Addr, "-join-token-file", token)
	stranger.start()
	stranger.eventually("the server is what it was", func(ctx context.Context) error {
		_, _, err := stranger.Client.Jobs().Get(ctx, "mine", nil)
		return err
	})
	if again, err := stranger.Client.Cluster().CA(t.Context()); err != nil || again.Roots != ca.Roots {
		t.Errorf("the authority changed: %v", err)
	}
	if list, _ := m.seats(m.all[0]); len(list) != 1 {
		t.Errorf("the servers of the other cluster are %v", list)
	}

	own := filepath.Join(t.TempDir(), "own")
	stranger.eventually("the server has tokens", func(ctx context.Context) error {
		tokens, err := stranger.Client.Cluster().JoinTokens(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(own, []byte(tokens.Server+"\n"), 0o600)
	})
	stranger.eventually("the root is replaced", func(ctx context.Context) error {
		_, err := stranger.Client.Cluster().RotateCA(ctx, false)
		return err
	})
	stranger.eventually("the server has only the new root", func(ctx context.Context) error {
		now, err := stranger.Client.Cluster().CA(ctx)
		if err != nil || strings.Contains(now.Roots, strings.TrimSpace(ca.Roots)) {
			return fmt.Errorf("the old root is still valid: %v", err)
		}
		roots, err := os.ReadFile(filepath.Join(stranger.Dir, "identity", "roots.pem"))
		if err != nil || strings.Contains(string(roots), strings.TrimSpace(ca.Roots)) {
			return fmt.Errorf("the server keeps the old root: %v", err)
		}
		return nil
	})
	stranger.Kill()
	stranger.Args = append(stranger.Args, "-join-token-file", own)
	stranger.start()
	stranger.eventually("a member starts with the token with which it could have joined", func(ctx context.Context) error {
		_, _, err := stranger.Client.Jobs().Get(ctx, "mine", nil)
		return err
	})
}

// TestARemovedServerSaysSo removes a server that runs: it says so from then on, also after a
// restart with its join token. With an empty data directory, it joins again.
func TestARemovedServerSaysSo(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	removed := m.other(leader)
	i := slices.Index(m.all, removed)
	name := fmt.Sprint("host-", i+1)
	_, ids := m.seats(leader)
	id := ids[name]
	leader.eventually("the server is removed", func(ctx context.Context) error {
		return leader.Client.Servers().Remove(ctx, name, "sold")
	})
	say := "this server (" + id + ") was removed from the cluster: it answers reads of its last state, and refuses changes; " +
		"stop it, or, to add it again, start it with an empty data directory and a join token"
	says := func(when string) {
		t.Helper()
		began := time.Now()
		defer func() { t.Logf("it says so %s, after %s", when, time.Since(began).Round(time.Millisecond)) }()
		removed.eventually("the removed server says so "+when, func(ctx context.Context) error {
			_, _, read := removed.Client.Jobs().List(ctx, nil)
			_, write := removed.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: sleeper("lost", 0)})
			for _, err := range []error{read, write} {
				if err == nil || !strings.Contains(err.Error(), say) {
					return fmt.Errorf("a request is answered with %w", err)
				}
			}
			return nil
		})
	}
	says("at once")
	removed.Kill()
	removed.start()
	says("after a restart")
	if list, _ := m.seats(leader); len(list) != 2 {
		t.Errorf("the servers are %v", list)
	}
	removed.Destroy()
	again := m.on(m.net.Hosts()[i], name, removed.Args[2:]...)
	again.start()
	m.all[i] = again
	again.eventually("the server is a member again", func(ctx context.Context) error { return m.allVote(ctx, again) })
}

// TestAnAddressThatOthersDoNotReach restarts a server with a wrong address: it is recorded at its
// old one, and everything continues.
func TestAnAddressThatOthersDoNotReach(t *testing.T) {
	m := newMembers(t, 3)
	m.form()
	leader := m.leader(m.all[0])
	wrong := m.other(leader)
	name := fmt.Sprint("host-", slices.Index(m.all, wrong)+1)
	before, _ := m.seats(leader)
	wrong.Kill()
	args := wrong.Args
	wrong.Args = append(slices.Clone(args), "-advertise", "10.213.0.77")
	wrong.start()
	waitOutput(t, wrong, `the other servers do not accept this server`)
	waitOutput(t, wrong, "cannot reach server "+name+" at 10.213.0.77:4646")
	waitOutput(t, wrong, "open the port, or give the server another address with -advertise HOST:PORT")
	leader.attention("cannot reach server " + name + " at 10.213.0.77:4646")
	if after, _ := m.seats(leader); !slices.Equal(before, after) {
		t.Errorf("the servers are %v, and were %v", after, before)
	}
	wrong.Kill()
	wrong.Args = args
	wrong.start()
	wrong.put(sleeper("later", 0))
}

// TestTheServersOfANodeAreReplaced shows and replaces the servers that the agent of a node knows,
// as its machine's root.
func TestTheServersOfANodeAreReplaced(t *testing.T) {
	m := newMembers(t, 2)
	m.form()
	one, two := m.net.Hosts()[0].Addr, m.net.Hosts()[1].Addr
	node := m.on(m.spare, "node", "-join", one, "-join-token-file", m.token("node"))
	node.start()
	node.eventually("the node is ready", readyNodes(m.all[0], 3))
	config := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return runBounded(ctx, m.spare.Command(reeve, append([]string{"node", "config"}, args...)...))
	}
	node.eventually("the agent knows both servers", func(context.Context) error {
		if out, err := config("-servers"); err != nil || out != one+":4646\n"+two+":4646\n" {
			return fmt.Errorf("%q: %v", out, err)
		}
		return nil
	})
	for args, say := range map[string]string{
		"-update-servers 10.213.0.77":                 "no address was changed: 10.213.0.77:4646: cannot reach a server of this cluster",
		"-update-servers " + two + " " + m.spare.Addr: "no address was changed: " + m.spare.Addr + ":4646: cannot reach a server of this cluster: the peer is node ",
		"-update-servers":                             "-update-servers needs the ADDRESS of a server, as HOST or HOST:PORT",
		two:                                           "set -update-servers to replace the servers with " + two,
		"-servers -update-servers " + two:             "choose either -servers or -update-servers",
		"-update-servers " + strings.Repeat(two+":4646 ", 65): "65 addresses of servers: name at most 64",
	} {
		if out, err := config(strings.Fields(args)...); err == nil || !strings.Contains(out, say) {
			t.Errorf("reeve node config %.60s: %v, %q; want %q", args, err, out, say)
		}
	}
	if out, err := config("-update-servers", two); err != nil || out != two+":4646\n" && out != one+":4646\n"+two+":4646\n" {
		t.Errorf("the servers are %q: %v", out, err)
	}
}
