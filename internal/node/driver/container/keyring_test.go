// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// TestContainersTakeNoKeysOfTheirUser runs a container and a command in it. The kernel grants the user that all containers
// of a node share 200 keys, so a key for each would bound the containers of a node.
func TestContainersTakeNoKeysOfTheirUser(t *testing.T) {
	ids := oci.IDs{First: 3 << 29, Size: 1 << 16} // of no other test
	b := newBed(t, func(c *container.Config) { c.IDs = ids })
	h := b.start(t, b.task(t, "a/web/0", "sleep"))
	before, err := os.ReadFile("/proc/key-users")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"/bin/tool", "id"}, Stdout: &out, Stderr: &errs}); err != nil || code != 0 || !strings.Contains(out.String(), "uid 0") {
		t.Fatalf("%d, %v: %q, %q", code, err, out.String(), errs.String())
	}
	after, err := os.ReadFile("/proc/key-users")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(before), string(after)} {
		if strings.Contains(text, fmt.Sprintf("%d:", ids.First)) {
			t.Errorf("the user of containers has keys:\n%s", text)
		}
	}
	if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
		t.Error(err)
	}
}
