// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Syntax is the syntax of a job file.
type Syntax string

// Syntaxes. FormatAuto detects the syntax by the file's extension, then by its content.
const (
	FormatAuto Syntax = ""
	FormatHCL  Syntax = "hcl"
	FormatJSON Syntax = "json"
	FormatYAML Syntax = "yaml"
)

// MaxSize bounds the text of a job file, in bytes.
const MaxSize = 8 << 20

// A Source is the text of one job file.
type Source struct {
	Name   string // name in errors; its extension selects the format
	Text   []byte
	Format Syntax
}

// Options are the inputs of a job file. The zero value is for a file without variables that
// may not read other files.
type Options struct {
	// Vars are values of the file's variables, as in -var name=value. They override VarFiles,
	// which override VarText, which overrides Env.
	Vars map[string]string
	// VarFiles are files of name = value lines (HCL, or JSON if the name ends in .json);
	// later ones override earlier ones.
	VarFiles []string
	// VarText is the text of one more such file, for callers that have it in memory.
	VarText string
	// Env holds NAME=value pairs as from os.Environ; REEVE_VAR_x and NOMAD_VAR_x set the
	// variable x.
	Env []string
	// Strict rejects values of variables that the file does not declare, including those of
	// JSON and YAML files, which have no variables. Values in Env are always permitted.
	Strict bool
	// AllowFS permits functions such as file() and fileset() to read files; relative names
	// start at BaseDir.
	AllowFS bool
	BaseDir string
	// Context ends the evaluation early; nil means the background context.
	Context context.Context

	sections *section // filled by Parse
	scarce   int      // divides the budget, for tests
}

// Parse parses a job file. The job is as written: neither canonicalized nor validated as a
// whole. The error is an *Error with every problem.
func Parse(src Source, opts Options) (*api.Job, error) {
	job, err := parse(src, opts)
	if err != nil {
		return nil, err
	}
	return job, nil
}

// parse is Parse. The job of a file in HCL that has errors is returned as far as it could be read.
func parse(src Source, opts Options) (*api.Job, error) {
	if len(src.Text) > MaxSize {
		return nil, tooLarge(src.Name, len(src.Text))
	}
	src.Text = bytes.TrimPrefix(src.Text, []byte("\ufeff")) // byte order mark
	format := DetectFormat(src)
	if format == FormatHCL {
		return parseHCL(src, opts)
	}
	if opts.Strict && (len(opts.Vars) > 0 || len(opts.VarFiles) > 0) {
		return nil, &Error{Problems: []Problem{{File: src.Name, Message: "only job files in HCL have variables; this one is " + strings.ToUpper(string(format))}}}
	}
	if format == FormatJSON {
		return parseJSON(src, opts)
	}
	return parseYAML(src, opts)
}

// ParseFile parses a job file from disk. Functions that read files start at its directory
// unless opts.BaseDir is set.
func ParseFile(path string, opts Options) (*api.Job, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &api.Error{Code: api.CodeInvalid, Message: "read job file: " + err.Error()}
	}
	if opts.BaseDir == "" {
		opts.BaseDir = filepath.Dir(path)
	}
	return Parse(Source{Name: path, Text: text}, opts)
}

var (
	hclLine  = regexp.MustCompile(`(?m)^[ \t]*[a-z_]+[ \t]*("[^"\n]*"[ \t]*)*\{`)
	yamlLine = regexp.MustCompile(`(?m)^[ \t]*[A-Za-z_]+:([ \t\r]|$)`)
)

// DetectFormat returns the source's format: the declared one, or that of its extension, or
// that of its text.
func DetectFormat(src Source) Syntax {
	if src.Format != FormatAuto {
		return src.Format
	}
	switch strings.ToLower(filepath.Ext(src.Name)) {
	case ".json":
		return FormatJSON
	case ".yaml", ".yml":
		return FormatYAML
	case ".hcl", ".nomad":
		return FormatHCL
	}
	text := bytes.TrimSpace(src.Text)
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return FormatJSON
	case hclLine.Match(text):
		return FormatHCL
	case yamlLine.Match(text):
		return FormatYAML
	}
	return FormatHCL
}
