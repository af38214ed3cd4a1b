// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// mergeCNI takes over where a configuration file says that networks of plugins are. The plugins run as
// the agent's user, so all paths are absolute.
func (b *Bridge) mergeCNI(k *fileClient) error {
	if dir := k.CNIConfigDir; dir != "" {
		if !filepath.IsAbs(dir) {
			return api.Errorf(api.CodeInvalid, "cni_config_dir = %q: must be an absolute path, such as \"/opt/cni/config\"", dir)
		}
		b.CNI.Dirs = []string{dir}
	}
	if k.CNIPath == "" {
		return nil
	}
	b.CNI.Paths = nil
	for dir := range strings.SplitSeq(k.CNIPath, ":") {
		if !filepath.IsAbs(dir) {
			return api.Errorf(api.CodeInvalid, "cni_path = %q: must be absolute paths with : between them, such as \"/opt/cni/bin:/usr/lib/cni\"", k.CNIPath)
		}
		b.CNI.Paths = append(b.CNI.Paths, dir)
	}
	return nil
}
