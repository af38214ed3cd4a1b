// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package listener

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// tables are what a kernel of a little-endian machine prints.
const (
	table4 = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0000000000000000 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0000000000000000 100 0 0 10 0
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0000000000000000 20 4 30 10 -1
`
	table6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22 1 0000000000000000 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 23 1 0000000000000000 100 0 0 10 0
`
)

func TestTablesOfSocketsAreRead(t *testing.T) {
	for _, test := range []struct {
		table string
		want  []string
	}{
		{table4, []string{"127.0.0.1:8080 11"}},
		{table6, []string{"[::]:8080 21", "[::1]:8080 22", "127.0.0.1:8080 23"}},
		{"", nil},
		{"0: short 0A\n", nil},
	} {
		all, err := parse(strings.NewReader(test.table), 8080)
		var got []string
		for _, l := range all {
			got = append(got, l.Addr.String()+" "+l.inode)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%.20q: %v (-want +got):\n%s", test.table, err, diff)
		}
	}
	if _, err := parse(strings.NewReader("0: nonsense x 0A 0 0 0 0 0 0 0\n"), 8080); err == nil {
		t.Error("a table that is none is read without an error")
	}
}

func TestWhatAListenerCovers(t *testing.T) {
	for _, test := range []struct {
		at, to string
		want   bool
	}{
		{"0.0.0.0", "10.0.0.1", true}, {"0.0.0.0", "::1", false}, {"::", "10.0.0.1", true}, {"::", "::1", true},
		{"127.0.0.1", "127.0.0.1", true}, {"127.0.0.1", "10.0.0.1", false}, {"::ffff:127.0.0.1", "127.0.0.1", true},
	} {
		l := Listener{Addr: netip.AddrPortFrom(netip.MustParseAddr(test.at), 80)}
		if got := l.Covers(netip.MustParseAddr(test.to)); got != test.want {
			t.Errorf("a listener at %s covers %s: %v", test.at, test.to, got)
		}
	}
}

// listen has this process listen at an address of this machine.
func listen(t *testing.T, at string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func TestWhoListensIsFound(t *testing.T) {
	port := listen(t, "127.0.0.1:0")
	own := Family{PIDs: []int{os.Getpid()}}
	other := Family{Variable: "REEVE_NO_SUCH_VARIABLE=1"}
	for _, test := range []struct {
		name  string
		q     Question
		kind  api.TroubleKind
		words string
	}{
		{"another address", Question{Address: "127.0.0.2:" + port, Family: own, Refused: true}, api.TroubleWrongAddress, "at 127.0.0.1:" + port + ", not at 127.0.0.2"},
		{"another address, somebody else", Question{Address: "127.0.0.2:" + port, Family: other, Refused: true}, api.TroublePortTaken, "listens at 127.0.0.1:" + port},
		{"the address, somebody else", Question{Address: "127.0.0.1:" + port, Family: other}, api.TroublePortTaken, "is not the task's"},
		{"the address, itself", Question{Address: "127.0.0.1:" + port, Family: own}, "", ""},
		{"another machine", Question{Address: "192.0.2.1:" + port, Family: own, Refused: true}, "", ""},
		{"nobody", Question{Address: "127.0.0.1:1", Family: own, Refused: true}, "", ""},
		{"no address", Question{Address: "localhost:http", Refused: true}, "", ""},
	} {
		kind, words := Diagnose(test.q)
		if kind != test.kind || !strings.Contains(words, test.words) || (words == "") != (test.words == "") {
			t.Errorf("%s: got %q, %q; want %q, %q", test.name, kind, words, test.kind, test.words)
		}
	}
}

func TestRealFamilyOfAProcess(t *testing.T) {
	child := exec.Command("sleep", "60")
	child.Env = []string{"REEVE_FAMILY=1"}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Process.Kill(); child.Wait() })
	wait.Until(t, "the kernel shows the child's environment", func() bool { // a moment after the program was executed
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", child.Process.Pid))
		return err == nil && len(env) > 0
	})
	for _, test := range []struct {
		name string
		f    Family
		want bool
	}{
		{"its variable", Family{Variable: "REEVE_FAMILY=1"}, true},
		{"another value", Family{Variable: "REEVE_FAMILY=2"}, false},
		{"the beginning of it", Family{Variable: "REEVE_FAMILY="}, false},
		{"itself", Family{PIDs: []int{child.Process.Pid}}, true},
		{"its parent", Family{PIDs: []int{os.Getpid()}}, true},
		{"nobody", Family{}, false},
	} {
		if got := test.f.Has(child.Process.Pid); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
