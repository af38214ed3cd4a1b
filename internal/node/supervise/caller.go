// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// layout is the machine's layout of control groups, which does not change while it runs.
var layout = sync.OnceValue(cgroup.Detect)

// TaskIn returns the id of the task whose v2 control group, or a group below it, has that id; ""
// if no task has. Only the supervisor puts processes there, and a task cannot leave its group
// unless it is root on the host. Without v2 groups, nothing that a process cannot choose itself
// names its task: a daemon can leave its session and its parent, and its environment is its own.
func (c *Client) TaskIn(group uint64) string {
	parent := c.Machine().CgroupParent
	if group == 0 || parent == "" {
		return ""
	}
	path, err := layout().PathOf(group)
	if err != nil {
		return ""
	}
	below, ok := strings.CutPrefix(path, parent+string(filepath.Separator))
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(below, string(filepath.Separator))
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.procs {
		if p.group == name {
			return id
		}
	}
	return ""
}
