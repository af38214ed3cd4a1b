// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// helperTime bounds the run of a credential helper, and maxHelperOutput its output in bytes.
const (
	helperTime      = 30 * time.Second
	maxHelperOutput = 64 << 10
)

var helperName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`)

// notFound begins the answer of helpers that have no credentials for a server.
const notFound = "credentials not found"

// runHelper gets credentials from docker-credential-NAME, found in the agent's PATH.
func runHelper(ctx context.Context, name, server string) (Credentials, error) {
	if !helperName.MatchString(name) {
		return Credentials{}, fmt.Errorf("the credential helper %q has no valid name: write X for the program docker-credential-X", printable(name, 80))
	}
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	program := "docker-credential-" + name
	cmd := exec.CommandContext(ctx, program, "get")
	out, complaint := &bounded{limit: maxHelperOutput}, &bounded{limit: maxHelperOutput}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(server+"\n"), out, complaint
	// The helper can be a script: end its children too, and do not wait for their pipes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	answer := strings.TrimSpace(out.String())
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return Credentials{}, fmt.Errorf("the credential helper %s did not answer for %s within %s: run it by hand as the agent's user", program, server, helperTime)
	case ctx.Err() != nil:
		return Credentials{}, ctx.Err()
	case out.full:
		return Credentials{}, fmt.Errorf("the credential helper %s wrote more than %d bytes for %s: run it by hand as the agent's user", program, maxHelperOutput, server)
	case err != nil && strings.HasPrefix(answer, notFound):
		return Credentials{}, nil
	case err != nil:
		if text := strings.TrimSpace(complaint.String()); text != "" {
			answer = text
		}
		if strings.Contains(answer, "{") {
			answer = "" // it can hold the secret
		}
		return Credentials{}, fmt.Errorf("the credential helper %s failed for %s: %w (%s): check that it is in the agent's PATH, and run it by hand as the agent's user", program, server, err, printable(answer, 200))
	}
	var got struct{ Username, Secret string }
	if json.Unmarshal([]byte(answer), &got) != nil || got.Secret == "" {
		return Credentials{}, fmt.Errorf("the credential helper %s did not answer with a user name and secret for %s: run it by hand as the agent's user", program, server)
	}
	if got.Username == "<token>" {
		return Credentials{IdentityToken: got.Secret}, nil
	}
	return Credentials{User: got.Username, Password: got.Secret}, nil
}

// bounded keeps the start of what a program writes. It does not embed the buffer, whose ReadFrom
// would bypass the limit.
type bounded struct {
	buf   bytes.Buffer
	limit int
	full  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.buf.Len()
	if len(p) > room {
		b.full = true
	}
	b.buf.Write(p[:min(len(p), room)])
	return len(p), nil
}

func (b *bounded) String() string { return b.buf.String() }
