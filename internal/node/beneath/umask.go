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

// umask returns the process's umask. It reads /proc, because the system call for it would
// change the umask of the whole process for a moment.
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
