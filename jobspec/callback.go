// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var callbackSchema = &schema[api.JobCallback]{
	noun:     "callback",
	required: []string{"url"},
	attrs: attrs[api.JobCallback]{
		"url":           func(c *api.JobCallback) any { return &c.URL },
		"secret":        func(c *api.JobCallback) any { return &c.Secret },
		"give_up_after": func(c *api.JobCallback) any { return &c.GiveUpAfter },
	},
	blocks: blocks[api.JobCallback]{
		"headers": texts(func(c *api.JobCallback) *map[string]string { return &c.Headers }),
	},
	finish: notePlace[api.JobCallback],
}
