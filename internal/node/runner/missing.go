// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"strings"
)

// missingVariable says which variable a task waits for, and the command that creates it. keys are the
// items that the task needs, if they are known.
func missingVariable(namespace, path string, keys []string) string {
	items := "KEY=VALUE"
	if len(keys) > 0 {
		items = strings.Join(keys, "=VALUE ") + "=VALUE"
	}
	return fmt.Sprintf("the variable %q of the namespace %q does not exist; create it: reeve var put -namespace %s %s %s", path, namespace, namespace, path, items)
}

// missingItems says which items of a variable a task waits for.
func missingItems(namespace, path string, keys []string) string {
	return fmt.Sprintf("the variable %q of the namespace %q has no item %s; add it: reeve var put -namespace %s %s with all items", path, namespace, strings.Join(keys, ", "), namespace, path)
}

// forbiddenVariable says which right a task's identity lacks, and the command that gives it.
func forbiddenVariable(namespace, path, job string) string {
	return fmt.Sprintf("the identity of the task may not read the variable %q of the namespace %q; allow it: reeve acl policy apply -namespace %s -job %s NAME FILE, "+
		"with a policy that has variables:read for this path", path, namespace, namespace, job)
}
