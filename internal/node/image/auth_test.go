// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/reeve-run/reeve/internal/node/image/registry"
	"github.com/reeve-run/reeve/internal/node/image/registrytest"
)

// requireLogin makes the registry ask for a user's password.
func requireLogin(w http.ResponseWriter, req *http.Request, next http.Handler) {
	if user, password, _ := req.BasicAuth(); user != "ada" || password != "s3cret" {
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	next.ServeHTTP(w, req)
}

func TestPullsLogIn(t *testing.T) {
	b := newBench(t)
	ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", oneFile(t, "a", "1", types.OCILayer)))
	b.registry.Before(requireLogin)
	config := filepath.Join(t.TempDir(), "config.json")
	write := func(text string) {
		t.Helper()
		must(t, os.WriteFile(config, []byte(text), 0o600))
	}
	try := func(login *registry.Credentials, anonymous bool) error {
		_, err := b.Pull(t.Context(), Request{Image: ref, Owner: "task", Platform: amd64, Login: login, Anonymous: anonymous})
		return err
	}
	denied := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "check that the image exists, and that the credentials for registry.test may pull it") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error = %v", what, err)
		}
	}
	denied("no credentials", try(nil, false))
	denied("a wrong password", try(&registry.Credentials{User: "ada", Password: "other"}, false))
	must(t, try(&registry.Credentials{User: "ada", Password: "s3cret"}, false))

	b.Keychain.File = config
	write(`{"auths": {"other.test": {"auth": "YWRhOnMzY3JldA=="}}}`)
	denied("another registry's credentials", try(nil, false))
	write(`{"auths": {"https://registry.test/v1/": {"auth": "YWRhOnMzY3JldA=="}}}`)
	must(t, try(nil, false))
	denied("the task's own credentials come first", try(&registry.Credentials{}, false))

	write(`{"auths": "s3cret"}`)
	if err := try(nil, false); err == nil || !strings.Contains(err.Error(), "is not a config.json of Docker") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a damaged file: error = %v", err)
	}
	denied("a damaged file, then anonymous", try(nil, true))
	must(t, os.Chmod(config, 0o644))
	if err := try(nil, false); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("a file for all users: error = %v", err)
	}
	b.Keychain.File = config + ".missing"
	if err := try(nil, false); err == nil || !strings.Contains(err.Error(), "docker login") {
		t.Errorf("a missing file: error = %v", err)
	}
}

func TestRealHelpersLogIn(t *testing.T) {
	b := newBench(t)
	ref := b.registry.Push(t, "app:1", registrytest.Image(t, "amd64", oneFile(t, "a", "1", types.OCILayer)))
	b.registry.Before(requireLogin)
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	helper := func(script string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte("#!/bin/sh\n"+script), 0o700))
	}
	config := filepath.Join(t.TempDir(), "config.json")
	const good = `read server; [ "$1 $server" = "get registry.test" ] && echo '{"ServerURL": "x", "Username": "ada", "Secret": "s3cret"}'`
	const none = `echo "credentials not found in native keychain"; exit 1`
	for name, c := range map[string]struct {
		script, config string
		want           string // of the error; "": the pull succeeds
	}{
		"helper of the agent":           {script: good},
		"helper of the registry":        {script: good, config: `{"credHelpers": {"registry.test": "test"}}`},
		"store of all registries":       {script: good, config: `{"credsStore": "test"}`},
		"store without it, then a file": {script: none, config: `{"credsStore": "test", "auths": {"registry.test": {"username": "ada", "password": "s3cret"}}}`},
		"no credentials":                {script: none, want: "the credentials for registry.test may pull it"},
		"failure":                       {script: `echo "token expired" >&2; exit 3`, want: "docker-credential-test failed for registry.test: exit status 3 (token expired)"},
		"failure after the secret":      {script: good + `; exit 3`, want: "exit status 3 (): check"},
		"nonsense":                      {script: `echo s3cret`, want: "did not answer with a user name and secret"},
		"endless output":                {script: `head -c 1000000 /dev/zero`, want: "wrote more than 65536 bytes"},
		"path":                          {config: `{"credsStore": "../../bin/sh"}`, want: "no valid name"},
		"missing program":               {config: `{"credsStore": "missing"}`, want: "executable file not found"},
	} {
		helper(c.script)
		b.Keychain = registry.Keychain{Helper: "test"}
		if c.config != "" {
			must(t, os.WriteFile(config, []byte(c.config), 0o600))
			b.Keychain = registry.Keychain{File: config}
		}
		_, err := b.Pull(t.Context(), Request{Image: ref, Owner: name, Platform: amd64})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error = %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
}
