// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"maps"
	"slices"
	"strings"
)

// A Config describes a key management service and the key of it that is used.
type Config struct {
	Kind     string            // "transit" of Vault, or "awskms"
	Inactive bool              // it opens keys, and seals none
	Settings map[string]string // as the libraries of the services name them
}

// A kind is a kind of service.
type kind struct {
	required []string
	optional []string
	secrets  []string // that must not be in the configuration itself
}

var kinds = map[string]kind{
	"transit": {
		required: []string{"key_name"},
		optional: []string{"address", "mount_path", "namespace", "tls_ca_cert", "tls_client_cert", "tls_server_name"},
		secrets:  []string{"token", "tls_client_key"},
	},
	"awskms": {
		required: []string{"kms_key_id"},
		optional: []string{"region", "endpoint", "profile"},
	},
}

// Check returns the problem of the configurations of the services; "" if all is well.
func Check(configs []Config) string {
	active, seen := 0, map[string]bool{}
	for _, c := range configs {
		if problem := c.check(); problem != "" {
			return "keyring \"" + c.Kind + "\": " + problem
		}
		if seen[c.Kind] {
			return "keyring \"" + c.Kind + "\": there are two such blocks: remove one"
		}
		seen[c.Kind] = true
		if !c.Inactive {
			active++
		}
	}
	if active > 1 {
		return "keyring: one service seals the keys: set active = false in the other blocks, which then only open keys that they sealed"
	}
	return ""
}

func (c Config) check() string {
	k, ok := kinds[c.Kind]
	if !ok {
		return "this is no kind of service: it is " + strings.Join(slices.Sorted(maps.Keys(kinds)), " or ")
	}
	for _, name := range k.required {
		if c.Settings[name] == "" {
			return name + " is missing"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		switch value := c.Settings[name]; {
		case slices.Contains(k.secrets, name):
			if !strings.HasPrefix(value, "file://") && !strings.HasPrefix(value, "env://") {
				return name + " must not be in the configuration: write it to a file, and set " + name + " = \"file:///PATH\", or \"env://VARIABLE\""
			}
		case !slices.Contains(k.required, name) && !slices.Contains(k.optional, name):
			all := slices.Concat(k.required, k.optional, k.secrets)
			slices.Sort(all)
			return "there is no argument \"" + name + "\": the arguments are active, " + strings.Join(all, ", ")
		}
	}
	return ""
}
