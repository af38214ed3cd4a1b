// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/secretfile"
)

// addGlobalFlags adds the flags of every command: how to reach which cluster.
func (c *cli) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&c.flags.address, "address", "", "`URL` of the agent (default: REEVE_ADDR, NOMAD_ADDR, the servers of the current context, or http://127.0.0.1:4646)")
	f.StringVar(&c.flags.namespace, "namespace", "", "`NAME` of the namespace (default: REEVE_NAMESPACE, or \"default\"); in lists, \"*\" means all")
	f.StringVar(&c.flags.region, "region", "", "`NAME` of the region (default: REEVE_REGION)")
	f.StringVar(&c.flags.tokenFile, "token-file", "", "read the token from `FILE`, such as agent.token in the agent's data directory (default: REEVE_TOKEN, or NOMAD_TOKEN)")
	f.StringVar(&c.flags.serverWait, "server-wait", "", "while following, wait `D` for a lost server; 0 fails immediately (default: REEVE_SERVER_WAIT, or 2m)")
	f.BoolVar(&c.flags.noColor, "no-color", false, "print plain text; also if NO_COLOR is set, or stdout is not a terminal")
	f.BoolVar(&c.flags.forceColor, "force-color", false, "print colours even if stdout is not a terminal")
	root.SetFlagErrorFunc(flagError)
}

// address returns the address of the cluster's agent; "" if none is given.
func (c *cli) address() string {
	return cmp.Or(c.flags.address, c.Getenv("REEVE_ADDR"), c.Getenv("NOMAD_ADDR"))
}

// namespace returns the selected namespace; "" leaves it to the server or the job file.
func (c *cli) namespace() string {
	return cmp.Or(c.flags.namespace, c.Getenv("REEVE_NAMESPACE"), c.Getenv("NOMAD_NAMESPACE"))
}

func (c *cli) region() string {
	return cmp.Or(c.flags.region, c.Getenv("REEVE_REGION"), c.Getenv("NOMAD_REGION"))
}

// token returns the token of requests, or "". It is not a flag, because all users of a
// machine can read the arguments of its processes.
func (c *cli) token() (string, error) {
	if c.flags.tokenFile == "" {
		return cmp.Or(c.ownToken, c.Getenv("REEVE_TOKEN"), c.Getenv("NOMAD_TOKEN")), nil
	}
	token, err := secretfile.ReadToken(c.flags.tokenFile, c.Stdin)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "read -token-file: %v; name a readable file with one token", err)
	}
	return token, nil
}

// format selects the output of a read: for people, as JSON, or through a template.
type format struct {
	json     bool
	template string
}

func (f *format) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print the object as JSON, as the HTTP API returns it")
	flags.StringVarP(&f.template, "template", "t", "", "print the object through a Go `TEMPLATE`, such as '{{.ID}}'")
}

// forPeople reports whether neither JSON nor a template is selected.
func (f *format) forPeople() bool { return !f.json && f.template == "" }
