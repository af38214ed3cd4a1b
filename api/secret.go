// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxSecrets bounds the secret blocks of one task.
const maxSecrets = 64

var (
	secretName     = regexp.MustCompile(`^[a-zA-Z0-9_]{1,128}$`)
	secretProvider = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	secretUse      = regexp.MustCompile(`\$\{\s*secret\.([a-zA-Z0-9_]+)\.([^}\s]+)\s*\}`)
)

// IsVariable reports whether the secret is a variable of the cluster.
func (s *Secret) IsVariable() bool { return s.Provider == "nomad" || s.Provider == "reeve" }

// Namespace returns the namespace of the secret's variable; "": that of the job.
func (s *Secret) Namespace() string {
	name, _ := s.Config["namespace"].(string)
	return name
}

func (t *Task) validateSecrets(c *complaints, at string) {
	if len(t.Secrets) > maxSecrets {
		c.add("%s: secret: %d blocks; at most %d are allowed", at, len(t.Secrets), maxSecrets)
	}
	seen := map[string]bool{}
	for _, s := range t.Secrets {
		if s == nil {
			c.add("%s: secret: a block is null", at)
			continue
		}
		at := fmt.Sprintf("%s: secret %q", at, s.Name)
		switch {
		case !secretName.MatchString(s.Name):
			c.add("%s: a name must be 1 to 128 letters, digits and underscores", at)
		case seen[s.Name]:
			c.add("%s is defined twice", at)
		}
		seen[s.Name] = true
		switch {
		case s.Provider == "":
			c.add("%s: provider is missing: use \"nomad\" for variables of the cluster", at)
		case !secretProvider.MatchString(s.Provider):
			c.add("%s: provider %q: must be \"nomad\" or the name of a plugin of the node", at, Printable(s.Provider, 60))
		}
		if s.Path == "" {
			c.add("%s: path is missing: name the variable, as in path = \"nomad/jobs/web\"", at)
		} else if s.IsVariable() && !strings.Contains(s.Path, "${") && !IsVariablePath(s.Path) {
			c.add("%s: path %q is not the path of a variable", at, Printable(s.Path, 60))
		}
		s.validateSettings(c, at)
	}
	for _, use := range t.SecretUses() {
		if !seen[use.Name] {
			c.add("%s: ${secret.%s.%s}: the task has no secret %q: add a secret block with this name", at, use.Name, use.Key, use.Name)
		}
	}
}

func (s *Secret) validateSettings(c *complaints, at string) {
	if !s.IsVariable() {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		if text, ok := s.Config[key].(string); key != "namespace" {
			c.add("%s: config: %s is unknown for the provider %s; known: namespace", at, Printable(key, 40), s.Provider)
		} else if !ok || !IsNamespaceName(text) {
			c.add("%s: config: namespace must be the name of a namespace", at)
		}
	}
	if len(s.Env) > 0 {
		c.add("%s: env is for plugins, and the provider %s is not one; remove it", at, s.Provider)
	}
}

// A SecretUse is a place of a task that needs a value of a secret.
type SecretUse struct{ Name, Key string }

// SecretUses returns the values of secrets that the task's env, config and artifacts contain.
func (t *Task) SecretUses() (uses []SecretUse) {
	text, err := json.Marshal([]any{t.Env, t.Config, t.Artifacts})
	if err != nil {
		return nil
	}
	for _, m := range secretUse.FindAllSubmatch(text, 10_000) {
		if u := (SecretUse{string(m[1]), string(m[2])}); !slices.Contains(uses, u) {
			uses = append(uses, u)
		}
	}
	return uses
}
