// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// follow reports a change of a job and follows its evaluation. With detach, it prints
// only the evaluation's id.
func (c *cli) follow(ctx context.Context, cl *client.Client, jobID, done, evalID string, detach, wide bool) error {
	m := c.monitor(cl, jobID, wide)
	if detach || evalID == "" {
		if evalID == "" {
			fmt.Fprintf(c.Stdout, "%s.\n", done)
			return nil
		}
		fmt.Fprintf(c.Stdout, "%s; evaluation %s.\n", done, m.id(evalID))
		fmt.Fprintf(c.Stderr, "\"reeve eval status %s\" shows the result.\n", api.ShortID(evalID))
		return nil
	}
	fmt.Fprintf(c.Stderr, "%s; evaluation %s\n", done, m.id(evalID))
	return m.follow(ctx, evalID)
}
