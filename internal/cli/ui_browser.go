// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// browser returns the command that opens an address; nil if this machine shows no browser.
func (c *cli) browser() []string {
	if own := c.Getenv("BROWSER"); own != "" {
		first, _, _ := strings.Cut(own, ":")
		return strings.Fields(strings.ReplaceAll(first, "%s", ""))
	}
	if c.Getenv("DISPLAY") == "" && c.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	for _, name := range []string{"xdg-open", "open"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}
		}
	}
	return nil
}

// browserPatience is the time in which a browser's failure counts: some run until they are closed.
const browserPatience = 10 * time.Second

// runBrowser starts a command that opens an address. The channel receives its error, or nil. The browser survives
// the end of this command.
func runBrowser(ctx context.Context, command []string) <-chan error {
	failed := make(chan error, 1)
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		failed <- err
		return failed
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	go func() {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("it failed: %w", err)
			}
			failed <- err
		case <-ctx.Done():
			failed <- nil
		case <-time.After(browserPatience):
			failed <- nil
		}
	}()
	return failed
}

// isSocket reports whether the address of the cluster's agent is a unix socket.
func (c *cli) isSocket() bool { return strings.HasPrefix(c.address(), "unix://") }
