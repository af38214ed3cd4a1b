// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import "strings"

// Secrets holds the values of a task's secret blocks, by the block's name and the key.
type Secrets map[string]map[string]string

// AddSecrets replaces every ${secret.NAME.KEY} in the variables, and in what Replace is called with
// afterwards. Values are not searched for further variables.
func (e *Env) AddSecrets(s Secrets) {
	if len(s) == 0 {
		return
	}
	only := &Env{vars: map[string]string{}, scope: map[string]string{}}
	for name, items := range s {
		for key, value := range items {
			only.scope["secret."+name+"."+key] = value
			e.scope["secret."+name+"."+key] = value
		}
	}
	for name, value := range e.vars {
		if strings.Contains(value, "secret.") {
			e.vars[name] = only.Replace(value)
		}
	}
}
