// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// umask is what the process takes away from the modes of new files. It is read
// and not set: setting is the only other way to learn it, and not for one
// goroutine alone.
var umask = sync.OnceValue(func() fs.FileMode {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fs.ModePerm
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(rest), 8, 32); err == nil {
				return fs.FileMode(mask)
			}
		}
	}
	return fs.ModePerm
})
