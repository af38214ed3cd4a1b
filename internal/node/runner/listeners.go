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

// whoListens looks for the reason why nobody answers a check, or not as wanted:
// the task listens elsewhere, or somebody else has its port.
func (r *Runner) whoListens(p probe, refused bool) (api.TroubleKind, string) {
	q := listener.Question{Address: p.address, Refused: refused}
	r.mu.Lock()
	q.Family = r.family()
	if p.task != nil && p.task.handle != nil {
		q.PID = p.task.handle.PID()
	}
	r.mu.Unlock()
	return listener.Diagnose(q)
}

// family is the processes of the allocation.
func (r *Runner) family() listener.Family {
	f := listener.Family{Variable: "NOMAD_ALLOC_ID=" + r.id}
	for _, t := range r.tasks {
		if t.handle != nil && t.handle.PID() > 0 {
			f.PIDs = append(f.PIDs, t.handle.PID())
		}
	}
	return f
}

// early is how long after its start a task has failed to listen on its port at
// the latest.
const early = 10 * time.Second

// takenPort says which port of a task that has just failed is held by a process
// that is none of the allocation's; "" if none is. That is looked for only where
// the task may have failed for it: soon after its start, by itself.
func (t *task) takenPort(x driver.Exit) string {
	r := t.r
	r.mu.Lock()
	failed := x.Err == nil && x.Code != 0 && x.Signal == 0 && t.killed == nil && t.again == nil && time.Since(t.state.StartedAt) < early
	if !failed {
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
