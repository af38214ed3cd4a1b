// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	line := "42 (a) b (c d) S 7 42 41 0 -1 4194560 100 0 0 0 11 22 0 0 20 0 1 0 98765 2244608 123 18446744073709551615 1 1"
	got, err := parseStat([]byte(line))
	if want := (procStat{PID: 42, PPID: 7, Session: 41, State: 'S', Ticks: 33, StartTime: 98765, RSSPages: 123}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for environ, want := range map[string]bool{"1000 2000": true, "2000 2000": false, "0 0": true} {
		full := line + " 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 1 1 1 1 1 " + environ + " 0"
		if got, err := parseStat([]byte(full)); err != nil || got.Environ != want {
			t.Errorf("with an environment from and to %s: %t, %v; want %t", environ, got.Environ, err, want)
		}
	}
	for _, bad := range []string{"", "42", "42 (x", "x (y) S", ") (", "42 (x) S 1 2 3"} {
		if s, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, s)
		}
	}
	self, err := readStat(os.Getpid())
	if err != nil || self.PID != os.Getpid() || self.PPID != os.Getppid() || !alive(self.PID, self.StartTime) || alive(self.PID, self.StartTime+1) {
		t.Errorf("this process: %+v, %v", self, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (x) S 7 42 41 0 -1 4194560 100 0 0 0 11 22 0 0 20 0 1 0 98765 2244608 123"))
	f.Fuzz(func(_ *testing.T, b []byte) { parseStat(b) })
}

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]unix.Signal{"SIGTERM": unix.SIGTERM, "term": unix.SIGTERM, " Hup ": unix.SIGHUP, "9": unix.SIGKILL} {
		if got, err := parseSignal(name); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", name, got, err, want)
		}
	}
	for _, bad := range []string{"", "SIG", "SIGFOO", "0", "-1", "65"} {
		if got, err := parseSignal(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

func TestGroupNamesAreSafeAndDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a/b/0", "a.b.0", "a/b/0 ", "../../x", "..", "", "a/B/0", string(make([]byte, 500))} {
		n := groupName(id)
		if other, ok := seen[n]; ok {
			t.Errorf("%q and %q are both %s", id, other, n)
		}
		seen[n] = id
		for _, r := range n {
			if r == '/' || r == 0 || len(n) > 200 {
				t.Errorf("%q becomes %q", id, n)
			}
		}
	}
}
