// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/client"
)

func varCommand(*cli) *command {
	return &command{
		use:     "var",
		aliases: []string{"variable", "vars"},
		short:   "Read and write variables: encrypted settings and secrets under paths",
		long: `A variable is a set of keys with values under a path of a namespace. Servers
store it encrypted. A variable also is a lock, which gives its holder the only
right to change it. See docs/variables.md.`,
		verbs: []constructor{varListCommand, varGetCommand, varPutCommand, varDeleteCommand, varLockCommand},
	}
}

// variablePaths completes the paths of variables.
func variablePaths(r *call, prefix string) ([]string, error) {
	list, _, err := r.cl.Variables().List(r.ctx, &client.QueryOptions{Prefix: prefix})
	var paths []string
	for _, v := range list {
		paths = append(paths, v.Path)
	}
	return paths, err
}
