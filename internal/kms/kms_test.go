// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"bytes"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/testbed/kmstest"
)

const text = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"

// configsFor returns the configuration of both services at one address.
func configsFor(t *testing.T, service *kmstest.Service) (transit, aws Config) {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(service.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VAULT_MAX_RETRIES", "0")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	t.Setenv("SECRET", "wJalrXUtnFEMI")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
	return Config{Kind: "transit", Settings: map[string]string{"address": server.URL, "key_name": "reeve", "token": "file://" + token}},
		Config{Kind: "awskms", Settings: map[string]string{"endpoint": server.URL, "region": "eu-west-1", "kms_key_id": "key"}}
}

func TestAKeyIsSealedAndOpened(t *testing.T) {
	service := kmstest.New("s.token")
	transit, aws := configsFor(t, service)
	for _, c := range []Config{transit, aws} {
		if problem := Check([]Config{c}); problem != "" {
			t.Fatal(problem)
		}
		file, err := New([]Config{c}).Seal([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte("c2VjcmV0")) || kindOf(file) != c.Kind {
			t.Errorf("%s: the file contains\n%s", c.Kind, file)
		}
		g := New([]Config{c}) // of the next process
		opened, stale, err := g.Open(file)
		if err != nil || stale || string(opened) != text {
			t.Errorf("%s: opened %q, stale %t, %v", c.Kind, opened, stale, err)
		}
		before := service.Calls()
		if again, _, err := g.Open(file); err != nil || string(again) != text || service.Calls() != before {
			t.Errorf("%s: the second time: %q, %v, with %d requests", c.Kind, again, err, service.Calls()-before)
		}
		if same, err := g.Seal([]byte(text)); err != nil || !bytes.Equal(same, file) {
			t.Errorf("%s: the same text is sealed anew: %v", c.Kind, err)
		}
		if changed, err := g.Seal([]byte("other")); err != nil || bytes.Equal(changed, file) {
			t.Errorf("%s: another text has the same form, %v", c.Kind, err)
		}
	}
}

// TestFormsAreReplaced moves a file from clear text to one service, to another, and back.
func TestFormsAreReplaced(t *testing.T) {
	transit, aws := configsFor(t, kmstest.New("s.token"))
	former := func(c Config) Config {
		c.Inactive = true
		return c
	}
	file := []byte(text)
	for i, step := range []struct {
		configs []Config
		kind    string
	}{
		{[]Config{transit}, "transit"},
		{[]Config{former(transit), aws}, "awskms"},
		{[]Config{former(transit), former(aws)}, ""},
	} {
		g := New(step.configs)
		opened, stale, err := g.Open(file)
		if err != nil || !stale || string(opened) != text {
			t.Fatalf("step %d: opened %q, stale %t, %v", i, opened, stale, err)
		}
		if file, err = g.Seal(opened); err != nil || kindOf(file) != step.kind {
			t.Fatalf("step %d: sealed by %q, %v", i, kindOf(file), err)
		}
		if _, stale, err := g.Open(file); err != nil || stale {
			t.Errorf("step %d: still stale, %v", i, err)
		}
	}
	if string(file) != text {
		t.Errorf("without a service, the file contains %q", file)
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	service := kmstest.New("s.token")
	transit, aws := configsFor(t, service)
	sealed, err := New([]Config{transit}).Seal([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	with := func(c Config, name, value string) Config {
		settings := map[string]string{name: value}
		for k, v := range c.Settings {
			if k != name {
				settings[k] = v
			}
		}
		c.Settings = settings
		return c
	}
	block, _ := pem.Decode(sealed)
	block.Bytes = block.Bytes[:len(block.Bytes)/2]
	for name, tc := range map[string]struct {
		guard     *Guard
		file      []byte
		fails     int
		say       string
		temporary bool
	}{
		"no block":          {New(nil), sealed, 0, `sealed by the service "transit"`, false},
		"another service":   {New([]Config{aws}), sealed, 0, `no block keyring "transit"`, false},
		"wrong token":       {New([]Config{with(transit, "token", "env://SECRET")}), sealed, 0, "permission denied", false},
		"no such token":     {New([]Config{with(transit, "token", "file:///nowhere")}), sealed, 0, "/nowhere", false},
		"does not answer":   {New([]Config{with(transit, "address", "http://127.0.0.1:1")}), sealed, 0, "check that this machine reaches the service", true},
		"fails":             {New([]Config{transit}), sealed, 503, "it fails on purpose", true},
		"refuses":           {New([]Config{transit}), sealed, 403, "what its credentials may do", false},
		"damaged":           {New([]Config{transit}), pem.EncodeToMemory(block), 0, "", false},
		"aws fails":         {New([]Config{aws}), nil, 500, "it fails on purpose", true},
		"aws refuses":       {New([]Config{aws}), nil, 400, "what its credentials may do", false},
		"aws not reachable": {New([]Config{with(aws, "endpoint", "http://127.0.0.1:1")}), nil, 0, "reaches the service", true},
	} {
		service.Fail(tc.fails)
		if tc.file == nil {
			_, err = tc.guard.Seal([]byte(text))
		} else {
			_, _, err = tc.guard.Open(tc.file)
		}
		var failed *Error
		if err == nil || !strings.Contains(err.Error(), tc.say) || (errors.As(err, &failed) && failed.IsTemporary()) != tc.temporary {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "s.token") || strings.Contains(err.Error(), "wJalr") || strings.Contains(err.Error(), "c2VjcmV0")) {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
	}
	// A service with another key does not open the file.
	other, _ := configsFor(t, kmstest.New("s.token"))
	if _, _, err := New([]Config{other}).Open(sealed); err == nil {
		t.Error("another key opens the file")
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	key := map[string]string{"key_name": "reeve"}
	for say, configs := range map[string][]Config{
		`"gcp": this is no kind of service: it is awskms or transit`: {{Kind: "gcp"}},
		`"transit": key_name is missing`:                             {{Kind: "transit"}},
		`"transit": token must not be in the configuration`:          {{Kind: "transit", Settings: map[string]string{"key_name": "reeve", "token": "s.token"}}},
		`"transit": there is no argument "tls_skip_verify"`:          {{Kind: "transit", Settings: map[string]string{"key_name": "reeve", "tls_skip_verify": "true"}}},
		`there are two such blocks`:                                  {{Kind: "transit", Settings: key}, {Kind: "transit", Settings: key, Inactive: true}},
		`set active = false`:                                         {{Kind: "transit", Settings: key}, {Kind: "awskms", Settings: map[string]string{"kms_key_id": "k"}}},
	} {
		if got := Check(configs); !strings.Contains(got, say) || strings.Contains(got, "s.token") {
			t.Errorf("%q, want %q", got, say)
		}
	}
}

// FuzzOpen opens hostile files.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("-----BEGIN REEVE SEALED KEY-----\nService: transit\n\nAAAA\n-----END REEVE SEALED KEY-----\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		opened, _, err := New(nil).Open(file)
		if err == nil && !bytes.Equal(opened, file) {
			t.Errorf("%q became %q without a service", file, opened)
		}
	})
}
