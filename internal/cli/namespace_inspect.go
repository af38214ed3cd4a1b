// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func namespaceInspectCommand(*cli) *command {
	return &command{
		use:     "inspect NAMESPACE",
		short:   "Print a namespace as JSON",
		long:    "Print a namespace as JSON, for \"namespace apply -json\".",
		example: "reeve namespace inspect dev > dev.json",
		format:  true,
		run: func(r *call) error {
			n, _, err := r.cl.Namespaces().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			r.format.json = r.format.template == ""
			return r.show(n, nil)
		},
	}
}
