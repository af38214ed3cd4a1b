// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"os/exec"
	"strings"
	"testing"
)

func TestBuildsOfOneVersionAreToldApart(t *testing.T) {
	own := buildID("/proc/self/exe")
	if own == "" || !strings.Contains(buildVersion(), own) {
		t.Errorf("the version %q does not say the build %q", buildVersion(), own)
	}
	other, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	if id := buildID(other); id == "" || id == own {
		t.Errorf("the build of %s is %q, this one's %q", other, id, own)
	}
}
