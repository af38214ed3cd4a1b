// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func clusterCommand(*cli) *command {
	return &command{
		use:   "cluster",
		short: "Show and replace join tokens, and exclude nodes",
		long: `A cluster begins with "reeve agent -server -bootstrap" on its first server.
Other machines become members with a join token: of servers, or of nodes.
Members know each other by certificates that renew themselves.`,
		verbs: []constructor{clusterTokenCommand, clusterCACommand, clusterRevokeCommand, clusterRevocationsCommand},
	}
}

func clusterTokenCommand(*cli) *command {
	return &command{
		use:   "token",
		short: "Show, create and replace the tokens of the cluster",
		verbs: []constructor{clusterTokenShowCommand, clusterTokenIntroduceCommand, clusterTokenRotateCommand},
	}
}
