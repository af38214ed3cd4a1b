// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"net/url"
	"strings"
)

const awsDomain = "amazonaws.com"

// isAWSHost reports whether a host is S3's own.
func isAWSHost(host string) bool {
	host = strings.ToLower(host)
	if host != awsDomain && !strings.HasSuffix(host, "."+awsDomain) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "s3" || strings.HasPrefix(label, "s3-") {
			return true
		}
	}
	return false
}

// parseS3 finds bucket, key and region in a URL: of the form s3://BUCKET/KEY, of S3's own hosts in
// both styles, and of other services with the bucket in the path.
func (s *ArtifactSource) parseS3(options map[string]string) error {
	u, err := url.Parse(s.URL)
	if err != nil {
		return errors.New("source is not a URL")
	}
	if u.User != nil || u.RawQuery != "" {
		return errors.New("source: a URL of s3 has no user and no query; set options { aws_access_key_id aws_access_key_secret }")
	}
	s.Region = options["region"]
	s.Version = options["version"]
	s.AccessKey, s.SecretKey, s.AWSToken = options["aws_access_key_id"], options["aws_access_key_secret"], options["aws_access_token"]
	if (s.AccessKey == "") != (s.SecretKey == "") {
		return errors.New("options: aws_access_key_id and aws_access_key_secret belong together: set both or none")
	}
	host, key := strings.ToLower(u.Hostname()), strings.TrimPrefix(u.Path, "/")
	switch {
	case u.Scheme == ArtifactS3:
		s.Bucket, s.Key = u.Host, key
		s.setAWS(s.Region)
	case isAWSHost(host):
		bucket, region := splitAWSHost(host)
		if s.Region == "" {
			s.Region = region
		}
		if s.Bucket, s.Key = bucket, key; bucket == "" {
			s.Bucket, s.Key, _ = strings.Cut(key, "/")
		}
		s.setAWS(s.Region)
	default:
		s.PathStyle, s.Endpoint = true, u.Scheme+"://"+u.Host
		s.Bucket, s.Key, _ = strings.Cut(key, "/")
	}
	if s.Region == "" {
		s.Region = "us-east-1"
	}
	if !isBucket(s.Bucket) || s.Key == "" || strings.HasSuffix(s.Key, "/") {
		return errors.New("source names no object: write it as s3://BUCKET/KEY or s3::https://HOST/BUCKET/KEY")
	}
	return checkRegion(s.Region)
}

// setAWS sets the endpoint of S3 itself. Names with dots are no part of its certificates.
func (s *ArtifactSource) setAWS(region string) {
	if region == "" {
		region = "us-east-1"
	}
	s.PathStyle = strings.Contains(s.Bucket, ".")
	s.Endpoint = "https://s3." + region + "." + awsDomain
}

// splitAWSHost separates the bucket and the region of a host of S3.
func splitAWSHost(host string) (bucket, region string) {
	labels := strings.Split(strings.TrimSuffix(host, "."+awsDomain), ".")
	for i := len(labels) - 1; i >= 0; i-- {
		switch {
		case labels[i] == "s3":
			region = strings.Join(labels[i+1:], ".")
		case strings.HasPrefix(labels[i], "s3-"):
			region = strings.TrimPrefix(labels[i], "s3-")
		default:
			continue
		}
		return strings.Join(labels[:i], "."), strings.TrimPrefix(region, "dualstack.")
	}
	return "", ""
}

func isBucket(name string) bool {
	return len(name) >= 3 && len(name) <= 63 && name[0] != '-' && name[0] != '.' && !strings.Contains(name, "..") &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
		})
}

func checkRegion(region string) error {
	if len(region) > 63 || strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return errors.New("options: region must be a name such as eu-central-1")
	}
	return nil
}
