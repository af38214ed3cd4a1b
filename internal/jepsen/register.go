// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// A register is an object of the API with a value and a modify index.
type register struct {
	name  string
	read  func(context.Context, *client.Client) (value string, index uint64, err error)
	write func(ctx context.Context, c *client.Client, value string) (index uint64, err error)
	// cas writes if the register has the index; 0: if it does not exist. It returns an error of
	// api.CodeConflict otherwise. Nil: the object has no check-and-set.
	cas func(ctx context.Context, c *client.Client, value string, expected uint64) (index uint64, err error)
}

// registersOf returns the registers of a round.
func registersOf(round string) []register {
	return []register{jobRegister("job-" + round), namespaceRegister("namespace-" + round), poolRegister("pool-" + round), schedulerRegister(), variableRegister("jepsen/" + round + "/value")}
}

// absent converts the error for an unknown object to the initial value of a register.
func absent(err error) (string, uint64, error) {
	if api.CodeOf(err) == api.CodeNotFound {
		return "", 0, nil
	}
	return "", 0, err
}

// valueKey is the key of a job's metadata that holds the value.
const valueKey = "value"

// emptyJob returns a job without instances that holds a value.
func emptyJob(id, value string) *api.Job {
	job := testbed.ShellJob(id, 0, "exit 0")
	job.Meta = map[string]string{valueKey: value}
	return job
}

func jobRegister(id string) register {
	put := func(ctx context.Context, c *client.Client, r *api.RegisterJobRequest) (uint64, error) {
		resp, err := c.Jobs().Register(ctx, r)
		if err != nil {
			return 0, err
		}
		return resp.JobModifyIndex, nil
	}
	return register{
		name: "job",
		read: func(ctx context.Context, c *client.Client) (string, uint64, error) {
			job, _, err := c.Jobs().Get(ctx, id, nil)
			if err != nil {
				return absent(err)
			}
			return job.Meta[valueKey], job.JobModifyIndex, nil
		},
		write: func(ctx context.Context, c *client.Client, value string) (uint64, error) {
			return put(ctx, c, &api.RegisterJobRequest{Job: emptyJob(id, value)})
		},
		cas: func(ctx context.Context, c *client.Client, value string, expected uint64) (uint64, error) {
			return put(ctx, c, &api.RegisterJobRequest{Job: emptyJob(id, value), EnforceIndex: true, JobModifyIndex: expected})
		},
	}
}

func namespaceRegister(name string) register {
	return register{
		name: "namespace",
		read: func(ctx context.Context, c *client.Client) (string, uint64, error) {
			n, _, err := c.Namespaces().Get(ctx, name, nil)
			if err != nil {
				return absent(err)
			}
			return n.Description, n.ModifyIndex, nil
		},
		write: func(ctx context.Context, c *client.Client, value string) (uint64, error) {
			return indexOf(c.Namespaces().Put(ctx, &api.Namespace{Name: name, Description: value}))
		},
		cas: func(ctx context.Context, c *client.Client, value string, expected uint64) (uint64, error) {
			return indexOf(c.Namespaces().PutAt(ctx, &api.Namespace{Name: name, Description: value}, expected))
		},
	}
}

func indexOf(resp *api.IndexResponse, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	return resp.Index, nil
}

// poolRegister has no check-and-set: the API offers none for node pools.
func poolRegister(name string) register {
	return register{
		name: "pool",
		read: func(ctx context.Context, c *client.Client) (string, uint64, error) {
			p, _, err := c.NodePools().Get(ctx, name, nil)
			if err != nil {
				return absent(err)
			}
			return p.Description, p.ModifyIndex, nil
		},
		write: func(ctx context.Context, c *client.Client, value string) (uint64, error) {
			return indexOf(c.NodePools().Put(ctx, &api.NodePool{Name: name, Description: value}))
		},
	}
}

// schedulerRegister keeps the value in the threshold of rejections, which no node reaches.
func schedulerRegister() register {
	put := func(ctx context.Context, c *client.Client, value string, expected *uint64) (uint64, error) {
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, err
		}
		config := api.DefaultSchedulerConfig()
		config.Rejections = api.RejectionConfig{NodeThreshold: n, NodeWindow: time.Minute}
		resp, err := c.Operator().SetSchedulerConfig(ctx, config, expected)
		if err != nil {
			return 0, err
		}
		if !resp.Updated {
			return 0, api.Errorf(api.CodeConflict, "the configuration has another index than %d", *expected)
		}
		return resp.Index, nil
	}
	return register{
		name: "scheduler",
		read: func(ctx context.Context, c *client.Client) (string, uint64, error) {
			resp, _, err := c.Operator().SchedulerConfig(ctx, nil)
			if err != nil {
				return "", 0, err
			}
			return strconv.Itoa(resp.SchedulerConfig.Rejections.NodeThreshold), resp.SchedulerConfig.ModifyIndex, nil
		},
		write: func(ctx context.Context, c *client.Client, value string) (uint64, error) {
			return put(ctx, c, value, nil)
		},
		cas: func(ctx context.Context, c *client.Client, value string, expected uint64) (uint64, error) {
			return put(ctx, c, value, &expected)
		},
	}
}

// variableRegister is encrypted by whichever server leads, and decrypted by the one that answers.
func variableRegister(path string) register {
	of := func(value string) *api.Variable {
		return &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: map[string]string{valueKey: value}}
	}
	stored := func(v *api.Variable, err error) (uint64, error) {
		if err != nil {
			return 0, err
		}
		return v.ModifyIndex, nil
	}
	return register{
		name: "variable",
		read: func(ctx context.Context, c *client.Client) (string, uint64, error) {
			v, _, err := c.Variables().Get(ctx, path, nil)
			if err != nil {
				return absent(err)
			}
			return v.Items[valueKey], v.ModifyIndex, nil
		},
		write: func(ctx context.Context, c *client.Client, value string) (uint64, error) {
			return stored(c.Variables().Put(ctx, of(value)))
		},
		cas: func(ctx context.Context, c *client.Client, value string, expected uint64) (uint64, error) {
			return stored(c.Variables().PutAt(ctx, of(value), expected))
		},
	}
}
