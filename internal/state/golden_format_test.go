// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLogFormatIsKept reads entries as earlier versions wrote them, and writes entries as
// earlier versions read them. The files of v1 contain the zero fields of documents.
func TestLogFormatIsKept(t *testing.T) {
	all := goldens()
	maps.Copy(all, objectCommands())
	maps.Copy(all, stackObjectCommands())
	for name, c := range all {
		path := filepath.Join("testdata", "commands", "v2", name+".hex")
		entry := EncodeCommands([]Command{c})
		if *rewrite {
			write(t, path, []byte(hexLines(entry)))
		}
		if !bytes.Equal(entry, unhex(t, path)) {
			t.Errorf("%s is written differently now: a log that an older version wrote must stay readable; add fields, never change one", c.Name())
		}
		isReadAs(t, path, entry)
		if first := filepath.Join("testdata", "commands", "v1", name+".hex"); exists(first) {
			isReadAs(t, first, entry)
		}
	}
}

// isReadAs compares a golden file with an entry, after decoding the file.
func isReadAs(t *testing.T, path string, entry []byte) {
	t.Helper()
	decoded, err := DecodeCommands(unhex(t, path))
	if err != nil {
		t.Errorf("%s cannot be read any more: %v", path, err)
		return
	}
	if again := EncodeCommands(decoded); !bytes.Equal(again, entry) {
		t.Errorf("%s is read as something else:\n%s", path, cmp.Diff(hexLines(entry), hexLines(again)))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
