// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// gitVersion asks git once: a version that changes while the agent runs matters to nobody.
var gitVersion = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "git version "), " ")
	return api.Printable(version, 40)
})

// Fingerprint returns the attributes of a node that say what it can fetch.
func Fingerprint() map[string]string {
	attributes := map[string]string{"artifact.isolation": Isolation()}
	if attributes["artifact.isolation"] == "" {
		attributes["artifact.isolation"] = "none"
	}
	if v := gitVersion(); v != "" {
		attributes["artifact.git.version"] = v
	}
	return attributes
}
