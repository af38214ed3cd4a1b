// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed"
)

// refused starts an agent that cannot start, and returns what it said.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, reeve, append([]string{"agent", "-dev"}, args...)...).CombinedOutput()
	if err == nil {
		t.Fatalf("the agent ended without an error:\n%s", out)
	}
	if ctx.Err() != nil {
		t.Fatalf("the agent did not give up:\n%s", out)
	}
	return string(out)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func wantWords(t *testing.T, said string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("the error does not mention %q:\n%s", w, said)
		}
	}
	if strings.Contains(said, "goroutine ") {
		t.Errorf("the error is a panic:\n%s", said)
	}
}

func TestSecondAgentOnTheSameDataDirectory(t *testing.T) {
	m := newMachine(t)
	m.register(testbed.ShellJob("web", 1, "sleep 1000"))
	m.allocations("web", "runs", running(1))
	said := refused(t, "-data-dir", m.Dir, "-http-addr", freeAddress(t))
	wantWords(t, said, m.Dir, "another agent")
	m.allocations("web", "still runs", running(1))
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	said := refused(t, "-data-dir", t.TempDir(), "-http-addr", l.Addr().String())
	wantWords(t, said, l.Addr().String(), "in use")
}

func TestUnwritableDataDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := refused(t, "-data-dir", filepath.Join(file, "data"), "-http-addr", freeAddress(t))
	wantWords(t, said, filepath.Join(file, "data"), "data directory")
}

func TestAddressMustBeLoopback(t *testing.T) {
	said := refused(t, "-data-dir", t.TempDir(), "-http-addr", "0.0.0.0:0")
	wantWords(t, said, "0.0.0.0", "loopback")
}

// TestTornLogTail cuts and garbles the end of the log as a power failure would,
// and expects either every acknowledged job back or a refusal that says why.
func TestTornLogTail(t *testing.T) {
	m := newMachine(t)
	m.register(sequenceJob("kept", 1))
	m.Kill()
	segment := m.newestSegment()
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(segment, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Segments are preallocated: what was never written is zero.
	if _, err := f.WriteAt([]byte("half a frame that never was finished"), endOfData(t, segment, info.Size())); err != nil {
		t.Fatal(err)
	}
	f.Close()
	m.start()
	m.waitReady()
	job, _, err := m.Client.Jobs().Get(t.Context(), "kept", nil)
	if err != nil || job.Meta["seq"] != "1" {
		t.Errorf("after a torn write at the end of the log: job %v, %v", job, err)
	}
}

// TestCorruptedLog flips a byte in the middle of what was acknowledged: that
// must never be served as if nothing had happened.
func TestCorruptedLog(t *testing.T) {
	m := newMachine(t)
	for i := range 20 {
		m.register(sequenceJob("kept", i))
	}
	m.Kill()
	segment := m.newestSegment()
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), `"kept"`)
	if at < 0 {
		t.Fatalf("%s does not hold the job", segment)
	}
	text[at+2] ^= 0xff
	if err := os.WriteFile(segment, text, 0o600); err != nil {
		t.Fatal(err)
	}
	said := refused(t, "-data-dir", m.Dir, "-http-addr", m.Addr)
	wantWords(t, said, m.Dir, "damaged")
}

func (m *machine) newestSegment() string {
	m.t.Helper()
	var newest string
	var at time.Time
	filepath.Walk(m.Dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && filepath.Base(filepath.Dir(path)) == "log" && filepath.Ext(path) == ".log" && !info.ModTime().Before(at) {
			newest, at = path, info.ModTime()
		}
		return nil
	})
	if newest == "" {
		m.t.Fatal("no log segment found")
	}
	return newest
}

// endOfData is the offset after the last byte that is not zero, rounded up to
// the log's alignment.
func endOfData(t *testing.T, path string, size int64) int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(len(strings.TrimRight(string(text), "\x00")))
	return min((end+7)/8*8, size)
}
