// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

// JobArgs returns the arguments with which a command finds a job: the flag -namespace
// unless the job is in the default namespace, and the job's id.
func JobArgs(namespace, job string) string {
	if namespace == "" || namespace == api.DefaultNamespace {
		return human.ShellQuote(job)
	}
	return "-namespace " + human.ShellQuote(namespace) + " " + human.ShellQuote(job)
}
