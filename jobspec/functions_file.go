// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/zclconf/go-cty/cty/function"

func fileFunctions(opts Options) map[string]function.Function { return nil }
