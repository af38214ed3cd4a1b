// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// readVariable reads a variable with the rights of a task's token, and with none of the agent's.
func (a *Agent) readVariable(ctx context.Context, token, namespace, path string) (*api.Variable, error) {
	v, _, err := a.client.WithToken(token).WithNamespace(namespace).Variables().Get(ctx, path, nil)
	return v, err
}
