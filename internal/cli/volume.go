// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func volumeCommand(*cli) *command {
	return &command{
		use:   "volume",
		short: "Create directories of nodes that tasks keep their data in",
		long: `A host volume is a directory of one node. Jobs request it by name with volume
and volume_mount blocks, and their instances then run on that node. Volumes of
agents' configurations (host_volume) exist without these commands.`,
		verbs: []constructor{volumeInitCommand, volumeCreateCommand, volumeRegisterCommand, volumeStatusCommand, volumeDeleteCommand, volumeClaimsCommand, volumeClaimCommand},
	}
}
