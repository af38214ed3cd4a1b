// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addGlobalFlags gives every command the flags that say which cluster to talk
// to, and how.
func (c *cli) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&c.flags.address, "address", "", "`URL` of the agent to talk to; REEVE_ADDR, then NOMAD_ADDR, then http://127.0.0.1:4646")
	f.StringVar(&c.flags.namespace, "namespace", "", "`NAME` of the namespace; REEVE_NAMESPACE, then \"default\". \"*\" means all, in lists")
	f.StringVar(&c.flags.region, "region", "", "`NAME` of the region; REEVE_REGION")
	f.StringVar(&c.flags.token, "token", "", "secret `ID` of the token to use; REEVE_TOKEN")
	f.BoolVar(&c.flags.noColor, "no-color", false, "plain text; also with NO_COLOR set, or when stdout is not a terminal")
	f.BoolVar(&c.flags.forceColor, "force-color", false, "colours even when stdout is not a terminal")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{flagMessage(err)} })
}

// address is where to reach the cluster.
func (c *cli) address() string {
	return firstOf(c.flags.address, c.Getenv("REEVE_ADDR"), c.Getenv("NOMAD_ADDR"), defaultAddress)
}

const defaultAddress = "http://127.0.0.1:4646"

// namespace is the namespace to work in; "" leaves it to the server or the job
// file.
func (c *cli) namespace() string {
	return firstOf(c.flags.namespace, c.Getenv("REEVE_NAMESPACE"), c.Getenv("NOMAD_NAMESPACE"))
}

func (c *cli) region() string {
	return firstOf(c.flags.region, c.Getenv("REEVE_REGION"), c.Getenv("NOMAD_REGION"))
}

func (c *cli) token() string {
	return firstOf(c.flags.token, c.Getenv("REEVE_TOKEN"), c.Getenv("NOMAD_TOKEN"))
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// format is how a read is to be shown: for people, as JSON, or through a
// template.
type format struct {
	json     bool
	template string
}

func (f *format) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print the object as JSON, as the HTTP API returns it")
	flags.StringVarP(&f.template, "template", "t", "", "print the object through a Go `TEMPLATE`, as in '{{.ID}}'")
}

// forPeople reports whether neither JSON nor a template was asked for.
func (f *format) forPeople() bool { return !f.json && f.template == "" }
