// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func namespaceCommand(*cli) *command {
	return &command{
		use:   "namespace",
		short: "List, create, change and delete namespaces",
		long: `A namespace isolates the names of jobs: jobs of two namespaces may have the same
id. Namespaces may nest, such as "dev" and "dev/sandbox". A job belongs to the
namespace that -namespace, its file or REEVE_NAMESPACE names; otherwise to
"default", which always exists.`,
		verbs: []constructor{namespaceListCommand, namespaceStatusCommand, namespaceInspectCommand, namespaceApplyCommand, namespaceDeleteCommand},
	}
}
