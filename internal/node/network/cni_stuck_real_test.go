// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/internal/node/cni"
)

// replace puts a script in the place of the plugin portmap.
func (m *machine) replace(script string) (undo func()) {
	m.t.Helper()
	dir := m.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "portmap"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	m.config.CNI.Paths = append([]string{dir}, m.config.CNI.Paths...)
	return func() { os.Remove(filepath.Join(dir, "portmap")) }
}

// TestStuckRemovalIsToldToThoseWhoWait lets DEL fail: who needs the ports learns it at once, and all
// others get their networks.
func TestStuckRemovalIsToldToThoseWhoWait(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	repair := m.replace(`[ $CNI_COMMAND = ADD ] && exec /usr/lib/cni/portmap; echo '{"code":5,"msg":"no rules today"}'; exit 1`)
	f := m.fabric()
	if _, _, err := f.Up(t.Context(), plugRequest(1)); err != nil {
		t.Fatal(err)
	}
	complete := f.Release(allocID(1))
	same := plugRequest(2)
	same.Ports = plugRequest(1).Ports
	waiting := make(chan error)
	for _, q := range []Request{same, plugRequest(1)} {
		go func() {
			_, _, err := f.Up(t.Context(), q)
			waiting <- err
		}()
	}
	if err := complete(); err == nil || !strings.Contains(err.Error(), "no rules today") {
		t.Error(err)
	}
	var texts []string
	for range 2 {
		if err := <-waiting; err != nil {
			texts = append(texts, err.Error())
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"port 20001 of the node belongs to allocation 00000001", "the allocation's former network cannot be removed", "no rules today"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s\nlacks %q", all, want)
		}
	}
	if _, _, err := f.Up(t.Context(), plugRequest(3)); err != nil {
		t.Errorf("another allocation: %v", err)
	}
	bridged := request(4, 20004)
	if _, _, err := f.Up(t.Context(), bridged); err != nil {
		t.Errorf("an allocation of the bridge: %v", err)
	}
	repair()
	if err := f.Reconcile(none); err != nil {
		t.Error(err)
	}
	f.removals.Wait()
	if _, _, err := f.Up(t.Context(), same); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	if err := f.Release(same.Alloc)(); err != nil {
		t.Error(err)
	}
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
}

// TestStrayOfAKilledAgentTakesNoAddress starts what an ADD of a killed agent left: a process that would
// take an address after the next agent's DEL.
func TestStrayOfAKilledAgentTakesNoAddress(t *testing.T) {
	m := newMachine(t)
	leases := m.shop()
	whole, err := cni.Find(m.config.CNI.Dirs, "shop")
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{Request: plugRequest(1), Chain: &Chain{Network: whole}}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	m.ledger.Put(KeyPrefix+r.Alloc, data)
	next := m.fabric()
	if err := makeNamespace(next.namespace(r.Alloc)); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "never")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	stray := exec.Command("sh", "-c", "echo; read x <"+pipe+"; mkdir -p "+leases+"; touch "+leases+"/192.0.2.7")
	stray.Env = []string{"PATH=/usr/bin:/bin", "CNI_COMMAND=ADD", "CNI_CONTAINERID=" + r.Alloc}
	started, err := stray.StdoutPipe()
	if err == nil {
		err = stray.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := started.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := next.Reconcile(none); err != nil {
		t.Error(err)
	}
	next.removals.Wait()
	if f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		t.Error("the stray still runs")
		f.WriteString("continue\n")
		f.Close()
	}
	if err := stray.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the stray ended with %v", err)
	}
	if left := m.plugged(leases); len(left) > 0 || len(m.ledger.keys) > 0 {
		t.Errorf("left %q, ledger %v", left, m.ledger.keys)
	}
}
