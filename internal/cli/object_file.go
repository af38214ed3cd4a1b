// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/reeve-run/reeve/api"
)

// maxObjectFile bounds how much is read of a file, in bytes.
const maxObjectFile = 1 << 20

// readObject reads the file that describes an object, such as a "quota": JSON, or HCL that parse
// reads. "-" is stdin.
func readObject[T any](c *cli, what, name string, asJSON bool, parse func(name string, text []byte) (*T, error)) (*T, error) {
	in := c.Stdin
	if name == "-" {
		name = "<stdin>"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read %s file: %w", what, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxObjectFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s file: %w", what, err)
	case len(text) > maxObjectFile:
		return nil, api.Errorf(api.CodeInvalid, "read %s file: %s has more than %d bytes: is it a %s?", what, name, maxObjectFile, what)
	case !asJSON:
		return parse(name, text)
	}
	object := new(T)
	warnings, err := api.DecodeJSON(text, object)
	if err != nil {
		return nil, fmt.Errorf("read %s file %s: %w", what, name, err)
	}
	if len(warnings) > 0 {
		return nil, &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf("read %s file %s: unknown keys; remove them", what, name), Detail: warnings}
	}
	return object, nil
}
