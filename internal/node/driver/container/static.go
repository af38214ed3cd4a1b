// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"debug/elf"
	"errors"
	"fmt"
	"sync"
)

// checkStatic returns an error if the agent's own program needs libraries of the node.
var checkStatic = sync.OnceValue(func() error {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("config init: read the agent's program: %w", err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("config init: the agent is linked with libraries of the node, which a container lacks: build it with CGO_ENABLED=0, or remove init")
		}
	}
	return nil
})
