// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// follow says what was done to a job and follows the evaluation that came of
// it, unless the user wants to detach. Then the evaluation's id is the answer.
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
