// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// isRead reports whether a process reads a pipe.
func isRead(pipe string) bool {
	f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.Close()
	}
	return err == nil
}

func TestRealStraysEndWithThePlugin(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"of a plugin that hangs":    {"setsid sh -c 'echo >$0/started; exec cat $0/never' $DIR >/dev/null 2>&1 </dev/null & cat $DIR/started; exec sleep 1000", "did not end within 500ms"},
		"that hold the output":      {"setsid sh -c 'echo >$0/started; exec cat $0/never' $DIR </dev/null & cat $DIR/started; echo '{}'", "left a process behind"},
		"that started another time": {"setsid sh -c '(exec setsid cat $0/never) & echo >$0/started; wait' $DIR </dev/null & cat $DIR/started; exec sleep 1000", "did not end within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlugins(t)
			for _, pipe := range []string{"started", "never"} {
				if err := syscall.Mkfifo(p.dir+"/"+pipe, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.install("stray", strings.ReplaceAll(c.script, "$DIR", p.dir))
			n := mustParse(t, `{"cniVersion":"1.0.0","name":"shop","plugins":[{"type":"stray"}]}`)
			r := p.runtime()
			r.Container, r.Patience = "alloc-of-"+strings.ReplaceAll(name, " ", "-"), 500*time.Millisecond
			if strings.Contains(c.want, "behind") {
				r.Patience = 20 * time.Second
			}
			if _, err := n.Add(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if isRead(p.dir + "/never") {
				t.Error("a process of the plugin still runs")
			}
		})
	}
}
