// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/variables"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// openVariables returns the variables of a namespace with the router's token, which may have
// changed since the last call.
func (a *Agent) openVariables(namespace string) (variables.Client, error) {
	token, err := secretfile.ReadExternalToken(a.config.Router.TokenFile)
	if err != nil {
		return nil, api.Errorf(api.CodeForbidden, "router: token_file: %v", err)
	}
	return a.client.WithToken(token).WithNamespace(namespace).Variables(), nil
}
