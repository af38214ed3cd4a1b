// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func quotaCommand(*cli) *command {
	return &command{
		use:   "quota",
		short: "Limit the resources of namespaces",
		long: `A quota limits what the allocations of namespaces use together: CPU, cores,
memory, disk and their number, in all node pools or in one. A namespace names
its quota ("namespace apply -quota QUOTA"), which also limits its children.
Instances beyond a limit wait until others stop or the limit rises.`,
		verbs: []constructor{quotaListCommand, quotaStatusCommand, quotaInspectCommand, quotaApplyCommand, quotaInitCommand, quotaDeleteCommand},
	}
}
