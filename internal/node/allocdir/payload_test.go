// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPayloadIsWrittenBelowLocal(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Build("a", "task", Layout{}); err != nil {
		t.Fatal(err)
	}
	local := d.Task("a", "task").Local
	for range 2 { // again at every start
		if err := d.WritePayload("a", "task", "in/put.json", []byte("{}"), Owner{}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(local, "in", "put.json")); err != nil || string(got) != "{}" {
		t.Errorf("the payload is %q (%v)", got, err)
	}
}

func TestPayloadFollowsNoLinkOut(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Build("a", "task", Layout{}); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	local := d.Task("a", "task").Local
	if err := os.Symlink(precious, filepath.Join(local, "input")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(precious), filepath.Join(local, "dir")); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePayload("a", "task", "input", []byte("theirs"), Owner{}); err != nil {
		t.Errorf("a link in the payload's place is not replaced: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(local, "input")); string(got) != "theirs" {
		t.Errorf("the payload is %q", got)
	}
	for _, file := range []string{"dir/precious", "../../../x", "/x", ".."} {
		if err := d.WritePayload("a", "task", file, []byte("theirs"), Owner{}); err == nil {
			t.Errorf("%s: written outside of the task's directory", file)
		}
	}
	if got, _ := os.ReadFile(precious); string(got) != "mine" {
		t.Errorf("a file outside was overwritten with %q", got)
	}
}

func TestPayloadIsNotHeldUpByAPipe(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Build("a", "task", Layout{}); err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(d.Task("a", "task").Local, "input")
	if err := syscall.Mkfifo(input, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePayload("a", "task", "input", []byte("{}"), Owner{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(input); err != nil || string(got) != "{}" {
		t.Errorf("the payload is %q (%v)", got, err)
	}
}
