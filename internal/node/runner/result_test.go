// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
)

func TestResultFile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		make   func(path string) error
		code   int
		result string
		event  string
	}{
		"a result":              {write(`{"rows": 12}`), 0, `{"rows": 12}`, ""},
		"as long as may be":     {write(strings.Repeat("x", api.MaxResult)), 0, strings.Repeat("x", api.MaxResult), ""},
		"longer":                {write(strings.Repeat("x", api.MaxResult+1)), 0, "", "No result: local/r has 10241 bytes; at most 10240 are kept"},
		"no text":               {write("a\xffb"), 0, "a\uFFFDb", ""},
		"of a run that failed":  {write("x"), 3, "", ""},
		"nothing":               {func(string) error { return nil }, 0, "", "No result: the task has not written local/r"},
		"a link that leads out": {func(path string) error { return os.Symlink(secret, path) }, 0, "", "path escapes from parent"},
		"a pipe":                {func(path string) error { return syscall.Mkfifo(path, 0o600) }, 0, "", "No result: read local/r: it is not a regular file"},
	} {
		inBubble(t, func(b *bench) {
			r := b.start(allocation("batch", taskSpec("t", policy(0, "fail"), func(t *api.Task) { t.ResultFile = "local/r" })))
			if err := c.make(filepath.Join(b.host.Dirs.Task(r.id, "t").Local, "r")); err != nil {
				b.Fatal(err)
			}
			b.driver.Wait(1).Exit(c.code)
			synctest.Wait()
			s := r.Report().TaskStates["t"]
			b.want(name+": result", c.result, s.Result)
			b.want(name+": failed", c.code != 0, s.Failed)
			told := false
			for _, e := range s.Events {
				told = told || e.Type == api.EventDriverMessage && strings.Contains(e.DisplayMessage, c.event)
			}
			b.want(name+": told", c.event != "", told)
		})
	}
}
