// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// methodFlags are the settings of an auth method on the command line.
type methodFlags struct {
	name, kind, locality, format, config string
	ttl                                  time.Duration
	isDefault                            bool
}

func (f *methodFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.config, "config", "", "the description of the identity provider is in the JSON file `FILE` (\"-\": standard input)")
	flags.StringVar(&f.locality, "token-locality", api.ACLTokenLocal, "the tokens are `LOCALITY`: local or global")
	flags.StringVar(&f.format, "token-name-format", "", "`TEMPLATE` of the names of tokens, such as '${value.user}'")
	flags.DurationVar(&f.ttl, "max-token-ttl", 0, "the tokens expire after `D`, from 1m to 24h")
	flags.BoolVar(&f.isDefault, "default", false, "logins that name no method use this one")
}

// apply changes the method as the given flags say.
func (f *methodFlags) apply(r *call, m *api.ACLAuthMethod) error {
	if r.flags.Changed("token-locality") || m.TokenLocality == "" {
		m.TokenLocality = f.locality
	}
	if r.flags.Changed("token-name-format") {
		m.TokenNameFormat = f.format
	}
	if r.flags.Changed("max-token-ttl") {
		m.MaxTokenTTL = f.ttl
	}
	if r.flags.Changed("default") {
		m.Default = f.isDefault
	}
	if f.config != "" {
		config, err := r.readMethodConfig(f.config)
		if err != nil {
			return err
		}
		m.Config = config
	}
	return m.Validate()
}

// methodConfig is the configuration without its own decoder, so that unknown keys are found.
type methodConfig api.ACLAuthMethodConfig

// maxMethodConfig bounds a configuration file, in bytes.
const maxMethodConfig = 256 << 10

// readMethodConfig reads a configuration. Commands of Nomad begin the name of the file with @.
func (c *cli) readMethodConfig(name string) (*api.ACLAuthMethodConfig, error) {
	in := c.Stdin
	if name != "-" {
		f, err := os.Open(strings.TrimPrefix(name, "@"))
		if err != nil {
			return nil, fmt.Errorf("read -config: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxMethodConfig+1))
	if err == nil && len(text) > maxMethodConfig {
		err = fmt.Errorf("it has more than %d bytes", maxMethodConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("read -config: %w", err)
	}
	var config methodConfig
	unknown, err := api.DecodeJSON(text, &config)
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("it has unknown keys: %s; see docs/access.md", strings.Join(unknown, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("read -config: %w", err)
	}
	return (*api.ACLAuthMethodConfig)(&config), nil
}

func aclAuthMethodCreateCommand(*cli) *command {
	var f methodFlags
	return &command{
		use:   "create",
		short: "Create an auth method",
		long: `Create an auth method for the identity provider that the configuration file
describes. The client secret of the type OIDC is in this file; servers store it
encrypted.`,
		example: `reeve acl auth-method create -name sso -type OIDC -max-token-ttl 8h -default -config examples/acl/auth-method-oidc.json
reeve acl auth-method create -name ci -type JWT -max-token-ttl 30m -config examples/acl/auth-method-jwt.json`,
		format: true,
		flags: func(flags *pflag.FlagSet) {
			f.addTo(flags)
			flags.StringVar(&f.name, "name", "", "`NAME` of the method")
			flags.StringVar(&f.kind, "type", "", "`TYPE` of the method: JWT or OIDC")
		},
		check: func(*call) error {
			if f.name == "" || f.kind == "" || f.ttl == 0 || f.config == "" {
				return usagef("-name, -type, -max-token-ttl and -config are needed")
			}
			return nil
		},
		run: func(r *call) error {
			m := &api.ACLAuthMethod{Name: f.name, Type: strings.ToUpper(f.kind)}
			if err := f.apply(r, m); err != nil {
				return err
			}
			created, err := r.cl.ACL().CreateAuthMethod(r.ctx, m)
			if err != nil {
				return err
			}
			return r.show(created, func(p *term.Page) {
				view.ACLAuthMethod(p, created)
				p.Next("Give its users rights:  reeve acl binding-rule create -auth-method " + created.Name + " -bind-type policy -bind-name POLICY")
			})
		},
	}
}

func aclAuthMethodUpdateCommand(*cli) *command {
	var f methodFlags
	return &command{
		use:   "update METHOD",
		short: "Change an auth method",
		long: `Change the settings of the given flags. The file of -config replaces the whole
configuration; the client secret "redacted" in it stands for the stored one.`,
		example: "reeve acl auth-method update -max-token-ttl 1h sso",
		format:  true,
		flags:   f.addTo,
		check: func(r *call) error {
			for _, name := range []string{"config", "token-locality", "token-name-format", "max-token-ttl", "default"} {
				if r.flags.Changed(name) {
					return nil
				}
			}
			return usagef("nothing to change: set -config, -token-locality, -token-name-format, -max-token-ttl or -default")
		},
		run: func(r *call) error {
			m, _, err := r.cl.ACL().AuthMethod(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			if err := f.apply(r, m); err != nil {
				return err
			}
			changed, err := r.cl.ACL().UpdateAuthMethod(r.ctx, m)
			if err != nil {
				return err
			}
			return r.show(changed, func(p *term.Page) { view.ACLAuthMethod(p, changed) })
		},
	}
}
