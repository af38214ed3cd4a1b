// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
)

// An agent that ended at any byte of the output is followed by one that completes it.
func TestOutputIsNeitherLostNorRepeated(t *testing.T) {
	messages := []string{"one\n", "two\n", "three is longer\n", "four\n"}
	var whole bytes.Buffer
	for _, m := range messages {
		whole.WriteString(m)
	}
	for remembered := range len(messages) + 1 {
		for written := range whole.Len() + 1 {
			root := t.TempDir()
			dir := filepath.Join(root, "alloc", "logs")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			l := driver.Logs{Root: root, StdoutPrefix: dir + "/web.stdout", StderrPrefix: dir + "/web.stderr", MaxFiles: 10, MaxFileBytes: 1 << 20}
			var position logPosition
			for n := range remembered {
				position.Time = time.Unix(int64(n), 0)
				position.Files[0].Bytes += int64(len(messages[n]))
			}
			if int64(written) < position.Files[0].Bytes {
				continue
			}
			if err := os.WriteFile(dir+"/web.stdout.0", whole.Bytes()[:written], 0o644); err != nil {
				t.Fatal(err)
			}
			d := &daemon{log: slog.New(slog.DiscardHandler), records: records{root}}
			h := &daemonHandle{d: d, t: &driver.Task{Logs: l}, r: &record{Logs: position}, resumed: true}
			c := h.newCopy()
			for n, m := range messages {
				c.receive(engine.Message{Time: time.Unix(int64(n), 0), Text: []byte(m)})
			}
			c.close()
			if got, _ := os.ReadFile(dir + "/web.stdout.0"); !bytes.Equal(got, whole.Bytes()) {
				t.Fatalf("%s: got %q", fmt.Sprintf("remembered %d messages, written %d bytes", remembered, written), got)
			}
		}
	}
}
