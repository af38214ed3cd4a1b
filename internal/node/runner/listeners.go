// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/listener"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// diagnoseListener looks for the reason why a check receives no answer or a wrong one: the
// task listens elsewhere, or another process holds its port.
func (r *Runner) diagnoseListener(p probe, refused bool) (api.TroubleKind, string) {
	q := listener.Question{Address: p.address, Refused: refused}
	r.mu.Lock()
	if inside, ok := r.insideProbe(p); ok {
		q.Address, q.Own = inside, true
	}
	q.Family = r.family()
	if p.task != nil && p.task.handle != nil {
		q.PID = p.task.handle.PID()
	}
	r.mu.Unlock()
	return listener.Diagnose(q)
}

// family returns the allocation's processes.
func (r *Runner) family() listener.Family {
	f := listener.Family{Variable: "NOMAD_ALLOC_ID=" + r.id}
	for _, t := range r.tasks {
		if t.handle != nil && t.handle.PID() > 0 {
			f.PIDs = append(f.PIDs, t.handle.PID())
		}
	}
	return f
}

// portFailureWindow is the time after a start within which a failure may be due to a taken
// port.
const portFailureWindow = 10 * time.Second

// takenPort describes the port of a task that has just failed if a process outside of the
// allocation holds it; "" otherwise. It looks only after failures that a taken port may
// explain: soon after the start, with a non-zero exit code, and not ended by the agent.
func (t *task) takenPort(x driver.Exit) string {
	r := t.r
	r.mu.Lock()
	failed := x.Err == nil && x.Code != 0 && x.Signal == 0 && t.killed == nil && t.request == nil && time.Since(t.state.StartedAt) < portFailureWindow
	if !failed {
		r.mu.Unlock()
		return ""
	}
	if r.group.NetworkOf(t.spec) != nil { // no other process is in its network
		r.mu.Unlock()
		return ""
	}
	ports, f, node := taskenv.Ports(r.alloc, t.spec), r.family(), r.nodeAddress()
	r.mu.Unlock()
	for _, p := range ports {
		host := p.HostIP
		if host == "" || host == "0.0.0.0" {
			host = node
		}
		at := net.JoinHostPort(host, strconv.Itoa(p.Value))
		if kind, words := listener.Diagnose(listener.Question{Address: at, Family: f}); kind == api.TroublePortTaken {
			return fmt.Sprintf("port %q: %s", p.Label, words)
		}
	}
	return ""
}
