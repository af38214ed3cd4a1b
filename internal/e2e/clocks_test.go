// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/failpoint"
	"github.com/reeve-run/reeve/internal/testbed/clock"
)

// shiftedReeve builds a binary whose clock a page of failpoints shifts, once.
var shiftedReeve = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(reeve), "shifted")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	overlay, err := clock.Overlay(dir)
	if err != nil {
		return "", err
	}
	built := filepath.Join(dir, "reeve")
	out, err := exec.Command("go", "build", "-o", built, "-overlay", overlay, "-tags", "faults", "github.com/reeve-run/reeve/cmd/reeve").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build with a clock that can be shifted: %w\n%s", err, out)
	}
	return built, nil
})

// clocked gives a machine, which is not started yet, a clock of its own.
func clocked(t *testing.T, m *machine) *failpoint.Page {
	t.Helper()
	built, err := shiftedReeve()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page")
	page, err := failpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { page.Close() })
	m.Reeve = built
	run := m.Command
	m.Command = func(name string, args ...string) *exec.Cmd {
		cmd := run(name, args...)
		cmd.Env = append(os.Environ(), failpoint.Env+"="+path)
		return cmd
	}
	return page
}

// TestWrongClocks joins machines whose clocks are wrong by an hour, and sets the clock of a server
// that follows and of the one that leads. Each has its sentence, and the cluster works.
func TestWrongClocks(t *testing.T) {
	m := newMembers(t, 3)
	pages := map[*machine]*failpoint.Page{}
	for _, a := range m.all {
		pages[a] = clocked(t, a)
	}
	m.form()
	m.all[0].put(sleeper("web", 3))
	before := m.all[0].allocations("web", "runs", running(3))
	leader := m.leader(m.all[0])

	for what, k := range map[string]struct {
		shift time.Duration
		say   []string
	}{
		"ahead":  {time.Hour, []string{"Error: join: the clock of late is ", " ahead of the clock of this server; set the clocks, for example with NTP, and join again\n"}},
		"behind": {-time.Hour - 5*time.Minute, []string{"Error: join: the certificate of the server at ", " behind the clock that the server had; set the clocks, for example with NTP, and join again\n"}},
	} {
		late := m.on(m.spare, "late", "-server", "-join", m.net.Hosts()[0].Addr, "-join-token-file", m.token("server"))
		clocked(t, late).SetClock(k.shift)
		late.start()
		late.ends("an agent whose clock is " + what)
		for _, say := range k.say {
			if !strings.Contains(late.Output(), say) {
				t.Errorf("%s: the agent does not say %q:\n%s", what, say, tail(late.Output(), 10))
			}
		}
	}
	if list, _ := m.seats(leader); len(list) != 3 {
		t.Errorf("the servers are %v", list)
	}

	follower := m.other(leader)
	name := func(a *machine) string { return fmt.Sprint("host-", slices.Index(m.all, a)+1) }
	pages[follower].SetClock(time.Hour)
	leader.attention("The clock of server " + name(follower) + " is 1h0m0s ahead of the clock of server " + name(leader) + ", which leads")
	follower.put(sleeper("ahead", 0))
	pages[follower].SetClock(0)
	pages[leader].SetClock(-time.Hour)
	other := m.other(leader, follower)
	other.attention("The clock of server " + name(leader) + ", which leads, is 1h0m0s behind the clocks of all others")
	other.put(sleeper("behind", 0))
	pages[leader].SetClock(0)
	after := other.allocations("web", "runs", running(3))
	if ids(before) != ids(after) {
		t.Errorf("allocations before %s, after %s", ids(before), ids(after))
	}
	if leads := m.leader(other); leads != leader {
		t.Errorf("%s leads, and %s led", name(leads), name(leader))
	}
}
