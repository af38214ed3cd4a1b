// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var vaultSchema = &schema[api.Vault]{
	noun: "vault",
	oneOf: map[string][]string{
		"change_mode": {"noop", "restart", "signal"},
	},
	attrs: attrs[api.Vault]{
		"policies":               func(v *api.Vault) any { return &v.Policies },
		"role":                   func(v *api.Vault) any { return &v.Role },
		"namespace":              func(v *api.Vault) any { return &v.Namespace },
		"cluster":                func(v *api.Vault) any { return &v.Cluster },
		"env":                    func(v *api.Vault) any { return &v.Env },
		"disable_file":           func(v *api.Vault) any { return &v.DisableFile },
		"change_mode":            func(v *api.Vault) any { return &v.ChangeMode },
		"change_signal":          func(v *api.Vault) any { return &v.ChangeSignal },
		"allow_token_expiration": func(v *api.Vault) any { return &v.AllowTokenExpiration },
	},
}

var consulSchema = &schema[api.Consul]{
	noun: "consul",
	attrs: attrs[api.Consul]{
		"namespace": func(c *api.Consul) any { return &c.Namespace },
		"cluster":   func(c *api.Consul) any { return &c.Cluster },
		"partition": func(c *api.Consul) any { return &c.Partition },
	},
}

var secretSchema = &schema[api.Secret]{
	noun:  "secret",
	label: "name",
	name:  func(s *api.Secret) *string { return &s.Name },
	attrs: attrs[api.Secret]{
		"provider": func(s *api.Secret) any { return &s.Provider },
		"path":     func(s *api.Secret) any { return &s.Path },
	},
	blocks: blocks[api.Secret]{
		"config": anything(func(s *api.Secret) *map[string]any { return &s.Config }),
		"env":    texts(func(s *api.Secret) *map[string]string { return &s.Env }),
	},
}

var identitySchema = &schema[api.Identity]{
	noun: "identity",
	oneOf: map[string][]string{
		"change_mode": {"noop", "restart", "signal"},
	},
	attrs: attrs[api.Identity]{
		"name":          func(i *api.Identity) any { return &i.Name },
		"aud":           func(i *api.Identity) any { return &i.Audience },
		"change_mode":   func(i *api.Identity) any { return &i.ChangeMode },
		"change_signal": func(i *api.Identity) any { return &i.ChangeSignal },
		"env":           func(i *api.Identity) any { return &i.Env },
		"file":          func(i *api.Identity) any { return &i.File },
		"filepath":      func(i *api.Identity) any { return &i.Filepath },
		"service_name":  func(i *api.Identity) any { return &i.ServiceName },
		"ttl":           func(i *api.Identity) any { return &i.TTL },
		"extra_claims":  func(i *api.Identity) any { return &i.ExtraClaims },
	},
}

// readIdentity distinguishes a task's default identity from its named ones.
func readIdentity(d *decoder, t *api.Task, b *block) {
	id := new(api.Identity)
	read(d, identitySchema, b, id)
	if id.Name != "" && id.Name != "default" {
		t.Identities = append(t.Identities, id)
		return
	}
	if t.Identity != nil {
		d.addAt(b.kindRange, "the task has a second default identity; give one of them a name")
		return
	}
	t.Identity = id
}
