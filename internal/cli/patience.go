// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
)

// defaultServerWait limits the time that a following command waits for a lost server.
const defaultServerWait = 2 * time.Minute

// serverWait returns the time to wait for a lost server; 0 means no wait.
func (c *cli) serverWait() (time.Duration, error) {
	text, from := c.flags.serverWait, "-server-wait"
	if text == "" {
		text, from = c.Getenv("REEVE_SERVER_WAIT"), "REEVE_SERVER_WAIT"
	}
	if text == "" {
		return defaultServerWait, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("%s %q is not a duration such as 30s, 5m or 0", from, text)
	}
	return d, nil
}

// patient returns a client whose reads survive an outage of the server. It reports the
// start and end of the outage.
func (c *cli) patient(cl *client.Client, say func(format string, args ...any)) *client.Client {
	return cl.WithPatience(client.Patience{
		For: c.wait,
		OnLost: func(err error) {
			say("%s\nWaiting up to %s for the server (-server-wait); Ctrl-C ends this command only.",
				c.stderrStyle().Yellow(lost(cl, err)), human.Duration(c.wait))
		},
		OnBack: func() { say("Connected again.") },
	})
}

// lost describes the loss of the server, with the cause.
func lost(cl *client.Client, err error) string {
	var no *client.NoAnswer
	if errors.As(err, &no) {
		return fmt.Sprintf("Lost the connection to the server at %s: %s.", no.Address, no.Cause)
	}
	return fmt.Sprintf("The server at %s does not answer: %v.", cl.Address(), err)
}

// tell writes one line to stderr.
func (c *cli) tell(format string, args ...any) { fmt.Fprintf(c.Stderr, format+"\n", args...) }
