// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// result returns the content of the task's result file after a successful run; "" after
// others.
func (t *task) result(x driver.Exit) (string, error) {
	t.r.mu.Lock()
	name, wanted := t.spec.ResultFile, t.mustSucceed()
	t.r.mu.Unlock()
	if name == "" || !wanted || x.Err != nil || x.Code != 0 || x.Signal != 0 {
		return "", nil
	}
	data, err := readResult(t.r.host.Dirs.Task(t.r.id, t.name).Task, name)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// readResult reads a file in a task's directory. The task may have put anything there, such
// as a link that leads outside, or a pipe without a writer.
func readResult(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, info, err := beneath.File(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the task has not written %s", name)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, api.MaxResult+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > api.MaxResult {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are kept", name, max(info.Size(), api.MaxResult+1), api.MaxResult)
	}
	return data, nil
}
