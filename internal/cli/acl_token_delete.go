// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func aclTokenDeleteCommand(c *cli) *command {
	var asJSON bool
	var allOf string
	return &command{
		use:   "delete [ACCESSOR]",
		short: "Delete a token: its bearer loses all rights",
		long: `Delete a token: its bearer loses all rights, and so do the tokens that it
created. With -all-of, delete all tokens that belong to a namespace and to those
below it.`,
		example: "reeve acl token delete 23d41c15\nreeve acl token delete -all-of web",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the response as JSON")
			f.StringVar(&allOf, "all-of", "", "delete all tokens that belong to the namespace `NAME`, and to those below")
		},
		check: func(r *call) error {
			if (allOf == "") != (len(r.args) == 1) {
				return usagef("name either one token, or a namespace with -all-of")
			}
			return nil
		},
		run: func(r *call) error {
			if allOf != "" {
				return r.deleteTokensOf(allOf)
			}
			resp, err := r.cl.ACL().DeleteToken(r.ctx, r.args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted token %s.\n", r.args[0])
			return nil
		},
	}
}

// deleteTokensOf deletes the tokens of a namespace and of those below it. A token that was deleted
// meanwhile, with its creator, is no error.
func (r *call) deleteTokensOf(namespace string) error {
	list, err := listAll(r.ctx, client.QueryOptions{}, r.cl.ACL().Tokens)
	if err != nil {
		return err
	}
	deleted := 0
	for _, t := range list {
		if t.Namespace == "" || !api.IsBelow(t.Namespace, strings.Trim(namespace, "/")) {
			continue
		}
		if _, err := r.cl.ACL().DeleteToken(r.ctx, t.AccessorID); err != nil && api.CodeOf(err) != api.CodeNotFound {
			return err
		}
		deleted++
	}
	fmt.Fprintf(r.Stdout, "Deleted %d tokens of namespace %q.\n", deleted, namespace)
	return nil
}
