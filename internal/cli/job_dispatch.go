// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func jobDispatchCommand(c *cli) *command {
	var (
		request api.DispatchJobRequest
		meta    []string
		payload string
	)
	return &command{
		use:   "dispatch JOB [PAYLOAD]",
		short: "Start a parameterized job with meta and a payload",
		long: `Create a job from a parameterized job and run it, with the given meta and the
content of the file PAYLOAD ("-" is stdin). The id of the new job consists of
JOB, "/dispatch-", the time and some random digits.

JOB is also UNIT or UNIT@VERSION of a parameterized unit: its target starts the
job.

The parameterized block specifies the allowed and required meta and payload.
Tasks find meta in their environment as REEVE_META_KEY and NOMAD_META_KEY, and
the payload in the file of their dispatch_payload block.`,
		example: `reeve job dispatch -meta day=monday import
reeve job dispatch import orders.json
generate-orders | reeve job dispatch -detach import -`,
		exitCodes: jobRunExitCodes,
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVar(&meta, "meta", nil, "pass `KEY=VALUE` to the tasks; repeatable")
			f.StringVar(&payload, "payload", "", "read the payload from `FILE`, \"-\" for stdin; the same as the argument PAYLOAD")
			f.StringVar(&request.IdempotencyToken, "idempotency-token", "", "return the earlier job if JOB was dispatched with `TOKEN` before")
			f.StringVar(&request.IdPrefixTemplate, "id-prefix-template", "", "insert `TEXT` before the time in the new job's id")
			f.IntVar(&request.Priority, "priority", 0, "set the priority `N` of the new job, 1 to 100 (default: the priority of JOB)")
		},
		check: func(r *call) error {
			if r.arg(1) != "" && payload != "" {
				return usagef("give the payload either as an argument or with -payload")
			}
			var err error
			if request.Meta, err = parseMeta(meta); err != nil {
				return err
			}
			request.Payload, err = c.readPayload(cmp.Or(r.arg(1), payload))
			return err
		},
		follow: true,
		units:  true,
		run: func(r *call) error {
			request.JobID = r.args[0]
			resp, err := r.cl.Jobs().Dispatch(r.ctx, &request)
			if err != nil {
				return err
			}
			done := fmt.Sprintf("Dispatched job %q as %q", request.JobID, resp.DispatchedJobID)
			return r.followJob(resp.DispatchedJobID, done, resp.EvalID)
		},
	}
}

// parseMeta reads KEY=VALUE arguments.
func parseMeta(args []string) (map[string]string, error) {
	meta := make(map[string]string, len(args))
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usagef("-meta %q is not KEY=VALUE", arg)
		}
		meta[key] = value
	}
	return meta, nil
}

// readPayload reads a payload, up to the limit of the servers.
func (c *cli) readPayload(path string) ([]byte, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		return readUpTo(c.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read payload %s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	return readUpTo(f)
}

func readUpTo(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, api.DispatchPayloadLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read payload: %w", err)
	case len(data) > api.DispatchPayloadLimit:
		return nil, usagef("the payload has more than %d bytes: store it elsewhere, and pass its address with -meta", api.DispatchPayloadLimit)
	}
	return data, nil
}
