// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
)

// An awsKey is a key of AWS KMS. The wrapper of go-kms-wrapping uses a version of the SDK that is no
// longer maintained. The keys of servers are smaller than the 4 KiB that AWS KMS encrypts itself.
type awsKey struct {
	client *kms.Client
	id     string
}

func (k *awsKey) Type(context.Context) (wrapping.WrapperType, error) {
	return wrapping.WrapperTypeAwsKms, nil
}

func (k *awsKey) KeyId(context.Context) (string, error) { return k.id, nil }

// SetConfig finds the credentials of this machine: the SDK's environment variables, files, and the
// role of the instance.
func (k *awsKey) SetConfig(ctx context.Context, options ...wrapping.Option) (*wrapping.WrapperConfig, error) {
	given, err := wrapping.GetOpts(options...)
	if err != nil {
		return nil, err
	}
	settings := given.WithConfigMap
	var load []func(*config.LoadOptions) error
	if region := settings["region"]; region != "" {
		load = append(load, config.WithRegion(region))
	}
	if profile := settings["profile"]; profile != "" {
		load = append(load, config.WithSharedConfigProfile(profile))
	}
	c, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, err
	}
	k.id = settings["kms_key_id"]
	k.client = kms.NewFromConfig(c, func(o *kms.Options) {
		if endpoint := settings["endpoint"]; endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	return &wrapping.WrapperConfig{}, nil
}

func (k *awsKey) Encrypt(ctx context.Context, text []byte, _ ...wrapping.Option) (*wrapping.BlobInfo, error) {
	out, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: &k.id, Plaintext: text})
	if err != nil {
		return nil, err
	}
	return &wrapping.BlobInfo{Ciphertext: out.CiphertextBlob, KeyInfo: &wrapping.KeyInfo{KeyId: aws.ToString(out.KeyId)}}, nil
}

func (k *awsKey) Decrypt(ctx context.Context, sealed *wrapping.BlobInfo, _ ...wrapping.Option) ([]byte, error) {
	out, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: &k.id, CiphertextBlob: sealed.Ciphertext})
	if err != nil {
		return nil, err
	}
	return out.Plaintext, nil
}
