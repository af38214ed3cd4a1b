// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"testing"

	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/socket"
)

// TestTheTaskOfASocketIsFound has tasks connect to this process: their main process, a daemon without parent, session
// and environment, and a process in a group below the task's. This process connects too.
func TestTheTaskOfASocketIsFound(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		version := c.Machine().CgroupVersion
		isKnown := (version == cgroup.V2 || version == cgroup.Hybrid) && os.Geteuid() == 0
		taskAt := func() string {
			t.Helper()
			nc, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			s, err := socket.Find(netip.MustParseAddrPort(nc.LocalAddr().String()), netip.MustParseAddrPort(nc.RemoteAddr().String()))
			if err != nil {
				t.Fatal(err)
			}
			return c.TaskIn(s.Group)
		}
		connect := "exec 3<>/dev/tcp/127.0.0.1/" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "; read -r line <&3"
		scripts := map[string]string{
			"a1/main/1":   connect,
			"a1/daemon/1": `env -i setsid /bin/bash -c '` + connect + `' & wait`,
		}
		if isKnown {
			scripts["a1/below/1"] = `g=/sys/fs/cgroup/$([ -d /sys/fs/cgroup/unified ] && echo unified/)$(sed -n 's|^0::/||p' /proc/self/cgroup)/sub
				mkdir "$g" && echo 0 > "$g/cgroup.procs" && ` + connect
		}
		for id, script := range scripts {
			spec := shell(t, id, script)
			spec.Path, spec.Argv[0] = "/bin/bash", "bash"
			p := start(t, c, spec)
			want := id
			if !isKnown {
				want = ""
			}
			if got := taskAt(); got != want {
				t.Errorf("the task of a socket of %s is %q, want %q", id, got, want)
			}
			waitForExit(t, p)
		}
		own, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		if got := taskAt(); got != "" {
			t.Errorf("this process is taken for task %q", got)
		}
	})
}
