// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"
	vault "github.com/hashicorp/vault/api"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// patience bounds the work of a service.
const patience = 30 * time.Second

// An Error is a failure of a key management service.
type Error struct {
	Kind  string // of service
	Verb  string // the work that failed: "seal" or "open"
	Cause error
}

// Error returns the failure with what to do.
func (e *Error) Error() string {
	advice := "check that this machine reaches the service"
	if !e.IsTemporary() {
		advice = "check the block keyring of the configuration, and what its credentials may do with the key"
	}
	return fmt.Sprintf("the service %q cannot %s the key of this server: %v; %s", e.Kind, e.Verb, e.Cause, advice)
}

func (e *Error) Unwrap() error { return e.Cause }

// errSetting is of a secret that a setting names.
var errSetting = errors.New("cannot read a secret of the configuration")

// settings returns the settings with the secrets that they name.
func (c *Config) settings() (map[string]string, error) {
	settings := maps.Clone(c.Settings)
	for _, name := range kinds[c.Kind].secrets {
		value := settings[name]
		if path, ok := strings.CutPrefix(value, "file://"); ok {
			text, err := secretfile.ReadExternal(path, 0o007, maxSecret)
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", errSetting, name, err)
			}
			settings[name] = strings.TrimSpace(string(text))
		} else if variable, ok := strings.CutPrefix(value, "env://"); ok {
			if settings[name] = strings.TrimSpace(os.Getenv(variable)); settings[name] == "" {
				return nil, fmt.Errorf("%w: %s: the environment variable %s is empty", errSetting, name, variable)
			}
		}
	}
	return settings, nil
}

// maxSecret is the size of the largest secret in bytes.
const maxSecret = 64 << 10

// IsTemporary reports whether another attempt may succeed without a change by a person: the
// service did not answer, or failed.
func (e *Error) IsTemporary() bool {
	var ofVault *vault.ResponseError
	var ofAWS *awshttp.ResponseError
	status := 0
	switch {
	case errors.Is(e.Cause, errSetting):
		return false
	case errors.As(e.Cause, &ofVault):
		status = ofVault.StatusCode
	case errors.As(e.Cause, &ofAWS):
		status = ofAWS.HTTPStatusCode()
	}
	return status < 400 || status >= 500 || status == http.StatusTooManyRequests
}

// use connects to the service, calls f, and disconnects: keys are opened when an agent starts.
func (c *Config) use(verb string, f func(context.Context, wrapping.Wrapper) ([]byte, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // not all libraries heed the context
		text, err := c.call(ctx, f)
		done <- result{text, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.err = fmt.Errorf("no answer within %s", patience)
	}
	if r.err != nil {
		return nil, &Error{c.Kind, verb, r.err}
	}
	return r.text, nil
}

func (c *Config) call(ctx context.Context, f func(context.Context, wrapping.Wrapper) ([]byte, error)) ([]byte, error) {
	settings, err := c.settings()
	if err != nil {
		return nil, err
	}
	var w wrapping.Wrapper
	switch c.Kind {
	case "transit":
		if settings["mount_path"] == "" {
			settings["mount_path"] = "transit/"
		}
		settings["disable_renewal"] = "true"
		w = transit.NewWrapper()
	case "awskms":
		w = &awsKey{}
	default:
		return nil, errors.New("there is no service of this kind")
	}
	if _, err = w.SetConfig(ctx, wrapping.WithConfigMap(settings)); err != nil {
		return nil, err
	}
	text, err := f(ctx, w)
	if end, ok := w.(wrapping.InitFinalizer); ok {
		err = errors.Join(err, end.Finalize(ctx))
	}
	return text, err
}
