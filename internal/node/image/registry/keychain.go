// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// Credentials log in to a registry. The zero value pulls as an anonymous user.
type Credentials struct {
	User, Password string
	IdentityToken  string // of an OAuth2 login, instead of a password
	RegistryToken  string // a bearer token, instead of a login
}

func (c Credentials) authenticator() authn.Authenticator {
	if c == (Credentials{}) {
		return authn.Anonymous
	}
	return authn.FromConfig(authn.AuthConfig{Username: c.User, Password: c.Password, IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken})
}

// A Keychain finds the credentials for a registry: in a configuration file of Docker, then by
// a helper program. An empty field is not used.
type Keychain struct {
	File   string // path of a config.json
	Helper string // X of docker-credential-X
}

// maxConfig bounds a config.json, in bytes.
const maxConfig = 1 << 20

// hubKey is the name of Docker Hub in configuration files and to helpers.
const hubKey = "https://index.docker.io/v1/"

// Find returns the credentials for a registry, the zero value if the keychain has none.
func (k Keychain) Find(ctx context.Context, registry string) (Credentials, error) {
	server := registry
	if registry == dockerHub {
		server = hubKey
	}
	if k.File != "" {
		c, err := fromFile(ctx, k.File, registry, server)
		if err != nil || c != (Credentials{}) {
			return c, err
		}
	}
	if k.Helper != "" {
		return runHelper(ctx, k.Helper, server)
	}
	return Credentials{}, nil
}

func fromFile(ctx context.Context, path, registry, server string) (Credentials, error) {
	text, err := secretfile.ReadExternal(path, 0o007, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Credentials{}, fmt.Errorf("read the registries' credentials: %s does not exist: create it with docker login, or correct the path in the agent's configuration", path)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("read the registries' credentials: %w", err)
	}
	var config struct {
		Auths       map[string]authn.AuthConfig
		CredHelpers map[string]string
		CredsStore  string
	}
	if err := json.Unmarshal(text, &config); err != nil {
		// The error of a decoder can quote the content, which is secret.
		return Credentials{}, fmt.Errorf("read the registries' credentials: %s is not a config.json of Docker: write it with docker login", path)
	}
	for key, helper := range config.CredHelpers {
		if hostOf(key) == registry {
			return runHelper(ctx, helper, server)
		}
	}
	if config.CredsStore != "" {
		if c, err := runHelper(ctx, config.CredsStore, server); err != nil || c != (Credentials{}) {
			return c, err
		}
	}
	for key, a := range config.Auths {
		if hostOf(key) == registry {
			return Credentials{a.Username, a.Password, a.IdentityToken, a.RegistryToken}, nil
		}
	}
	return Credentials{}, nil
}

// hostOf returns the registry of a key such as https://host/v1/.
func hostOf(key string) string {
	if _, rest, found := strings.Cut(key, "://"); found {
		key = rest
	}
	host, _, _ := strings.Cut(key, "/")
	return commonName(host)
}
