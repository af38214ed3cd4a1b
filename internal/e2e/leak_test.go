// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

var leakCycles = flag.Int("cycles", 60, "number of instances that TestContainerCyclesLeakNothing starts and stops")

// leakRound is the number of instances in one round: four of each kind.
const leakRound = 20

// TestContainerCyclesLeakNothing starts and stops instances of all kinds, and compares afterwards what the
// machine has of them: mounts, namespaces, interfaces, rules, control groups, processes, open files and directories.
func TestContainerCyclesLeakNothing(t *testing.T) {
	if !apart(t, unix.CLONE_NEWNET, "-cycles", strconv.Itoa(*leakCycles)) {
		return
	}
	image := pushed(t, nil)
	m := unstarted(t)
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "catalog"), []byte("apples\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(files)))
	defer server.Close()
	m.Args = []string{"-dev", "-config", m.configured(fmt.Sprintf("client {\n  gc_max_allocs = 1\n  host_volume \"data\" { path = %q }\n}\n", openDir(t)))}
	m.start()
	m.waitReady()
	for i := range leakRound / 5 {
		m.reeve("var", "put", fmt.Sprint("nomad/jobs/shop-", i), "password=canary-5b1")
	}
	m.leakCycle(image, server.URL+"/catalog")
	before := m.settled(nil)
	memory, begun := m.memory(), time.Now()
	for done := 0; done < *leakCycles; done += leakRound {
		m.leakCycle(image, server.URL+"/catalog")
		if (done/leakRound)%10 == 0 {
			t.Logf("after %d cycles: %v MB", done+leakRound, m.memory())
		}
	}
	took := time.Since(begun).Round(time.Second)
	after, then := m.settled(before), m.memory()
	t.Logf("%d cycles in %s\nbefore %v\nafter  %v\nmemory of agent and supervisor before %v MB, after %v MB", *leakCycles, took, before, after, memory, then)
	for i, bound := range []int{160, 40} { // the state of the server keeps what it has not collected yet
		if then[i] > memory[i]+bound {
			t.Errorf("process %d of [agent, supervisor] grew from %d MB to %d MB", i, memory[i], then[i])
		}
	}
	os.Remove(m.networksDir())
}

// leakCycle runs jobs of all kinds, and stops them.
func (m *machine) leakCycle(image, artifact string) {
	m.t.Helper()
	var jobs []*api.Job
	for i := range leakRound / 5 {
		sleep := map[string]any{"command": "/bin/sleep", "args": []string{"86400"}}
		jobs = append(jobs, testbed.Job(fmt.Sprint("raw-", i), "raw_exec", 1, sleep), testbed.Job(fmt.Sprint("isolated-", i), "exec", 1, sleep),
			containerJob(fmt.Sprint("container-", i), image, 1, "orphan , sleep"))
		network := testbed.Job(fmt.Sprint("network-", i), "exec", 1, sleep)
		network.Groups[0].Networks = []*api.Network{{Mode: api.NetworkBridge, DynamicPorts: []api.Port{{Label: "http", To: 80}}}}
		everything := everythingJob(image, artifact, 1)
		everything.ID = fmt.Sprint("shop-", i)
		path := "nomad/jobs/" + everything.ID
		everything.Groups[0].Tasks[0].Secrets[0].Path = path
		for _, tmpl := range everything.Groups[0].Tasks[0].Templates {
			tmpl.EmbeddedTmpl = strings.ReplaceAll(tmpl.EmbeddedTmpl, "nomad/jobs/shop", path)
		}
		everything.Groups[0].Volumes["data"].AccessMode = "single-node-multi-writer"
		jobs = append(jobs, network, everything)
	}
	for _, job := range jobs {
		m.register(job)
	}
	for _, job := range jobs {
		m.allocations(job.ID, "runs", running(1))
	}
	for _, job := range jobs {
		if _, err := m.Client.Jobs().Deregister(m.t.Context(), job.ID, client.DeregisterOptions{Purge: true}); err != nil {
			m.t.Fatal(err)
		}
	}
	m.eventually("all tasks have ended", func(context.Context) error {
		if left := m.Processes(); len(left) > 1 {
			return fmt.Errorf("%d processes", len(left))
		}
		return nil
	})
}

// settled returns what the machine has once it is what it had before, or without that once nothing of
// instances is left.
func (m *machine) settled(before map[string]int) map[string]int {
	m.t.Helper()
	var have map[string]int
	m.eventually("the machine is as before", func(ctx context.Context) error {
		// A collection keeps what ended a moment ago, and what an evaluation still needs.
		if err := m.Client.System().CollectGarbage(ctx); err != nil {
			return err
		}
		have = m.possessions()
		if before == nil {
			if have["processes"] != 1 || have["interfaces"] > 2 || have["networks"] > 0 || have["allocations"] > 0 || have["control groups"] == 0 {
				return fmt.Errorf("it has %v", have)
			}
			return nil
		}
		raw := maps.Clone(have)
		for _, grows := range []string{"open files of the agent", "threads of the agent", "threads of the supervisor"} { // connections and threads in reserve
			if have[grows] <= before[grows]+8 {
				have[grows] = before[grows]
			}
		}
		if diff := cmp.Diff(before, have); diff != "" {
			return fmt.Errorf("(-before +now)\n%s", diff)
		}
		have = raw
		return nil
	})
	return have
}

// possessions counts what the machine has.
func (m *machine) possessions() map[string]int {
	agent, supervisor := m.PID(), m.Supervisor()
	have := map[string]int{"processes": len(m.Processes()), "networks": len(found(m.networksDir() + "/*"))}
	for name, pid := range map[string]int{"agent": agent, "supervisor": supervisor} {
		have["open files of the "+name] = len(found(fmt.Sprintf("/proc/%d/fd/*", pid)))
		have["threads of the "+name] = len(found(fmt.Sprintf("/proc/%d/task/*", pid)))
		mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
		have["mounts of the "+name] = strings.Count(string(mounts), m.Dir) + strings.Count(string(mounts), m.networksDir()+"/")
		have["secrets in the mounts of the "+name] = strings.Count(string(mounts), m.secretsDir()+"/")
	}
	have["directories of secrets"] = directories(m.secretsDir())
	namespaces := map[string]bool{}
	for _, pid := range m.Processes() {
		for _, ns := range found(fmt.Sprintf("/proc/%d/ns/*", pid)) {
			to, _ := os.Readlink(ns)
			namespaces[to] = true
		}
	}
	have["namespaces"] = len(namespaces)
	links, _ := netlink.LinkList()
	have["interfaces"] = len(links)
	have["rules"] = rules()
	name := fnv.New64a() // as the supervisor names its control group
	name.Write([]byte(m.Dir + "/supervisor"))
	for _, pattern := range []string{"/sys/fs/cgroup/reeve/%016x", "/sys/fs/cgroup/*/reeve/%016x"} {
		for _, group := range found(fmt.Sprintf(pattern, name.Sum64())) {
			have["control groups"] += directories(group)
		}
	}
	for _, dir := range found(m.Dir + "/*") {
		if name := filepath.Base(dir); name != "server" && name != "raft" {
			have["directories of "+name] = directories(dir)
		}
	}
	have["allocations"] = len(found(m.Dir + "/node/alloc/*"))
	return have
}

// secretsDir returns the directory with the secrets of the machine's tasks.
func (m *machine) secretsDir() string {
	for _, link := range found("/run/reeve/*.of") {
		if of, _ := os.Readlink(link); strings.HasPrefix(of, m.Dir+"/") {
			return strings.TrimSuffix(link, ".of")
		}
	}
	m.t.Fatal("no directory of secrets in memory belongs to the machine")
	return ""
}

func found(pattern string) []string {
	list, _ := filepath.Glob(pattern)
	return list
}

func directories(root string) (n int) {
	filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// rules counts the rules, chains and elements of sets of the network namespace.
func rules() (n int) {
	c := &nftables.Conn{}
	chains, _ := c.ListChains()
	for _, chain := range chains {
		list, _ := c.GetRules(chain.Table, chain)
		n += 1 + len(list)
	}
	tables, _ := c.ListTables()
	for _, table := range tables {
		sets, _ := c.GetSets(table)
		for _, set := range sets {
			elements, _ := c.GetSetElements(set)
			n += 1 + len(elements)
		}
	}
	return n
}

// memory returns the resident memory of the agent and the supervisor, in MB.
func (m *machine) memory() []int {
	return []int{int(testbed.ResidentBytes(m.PID()) >> 20), int(testbed.ResidentBytes(m.Supervisor()) >> 20)}
}
