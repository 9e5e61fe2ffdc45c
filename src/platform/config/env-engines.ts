// Settings of external engines: OpenSearch, S3 and Redis.
import Type from 'typebox'
import { isEngineAddress, isRedisAddress } from './env-values.ts'
import { address, choice, optional, optionalFlag } from './variable.ts'

export const ENGINE_VARIABLES = {
  OPENSEARCH_URL: optional({
    description:
      'URL of an OpenSearch server, version 2.19 or later, for the search index; see docs/operators/engines/opensearch.md. Default: ' +
      'an embedded index.',
    must: 'an http or https URL without query and fragment',
    example: 'https://depot:password@search.example.org:9200',
    secret: true,
    check: isEngineAddress,
  }),
  OPENSEARCH_INDEX: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,99}$',
    default: 'depot',
    description:
      'Name of the alias in OpenSearch, and prefix of the names of its indexes. Each instance needs its own name.',
    must: 'lower-case letters, digits, hyphens and underscores, at most 100, the first a letter or digit',
    example: 'depot-test',
  }),
  S3_BUCKET: optional({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$',
    description:
      'Bucket of an S3-compatible store for the files; see docs/operators/engines/s3.md. Default: DATA_DIR/files. The AWS SDK reads ' +
      'the keys, for example from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    must: 'the name of a bucket: 3 to 255 letters, digits, dots, hyphens and underscores',
    example: 'depot-files',
  }),
  S3_ENDPOINT: address({
    description: 'URL of the S3-compatible store. Default: Amazon S3 in S3_REGION.',
    example: 'https://s3.example.org',
  }),
  S3_REGION: Type.String({
    pattern: '^[A-Za-z0-9-]{1,64}$',
    default: 'us-east-1',
    description: 'Region of the bucket.',
    must: 'letters, digits and hyphens, at most 64',
    example: 'eu-central-1',
  }),
  S3_PATH_STYLE: optionalFlag({
    description:
      'Whether URLs contain the bucket in the path instead of the host. Default: true if S3_ENDPOINT is set, otherwise false.',
    example: 'true',
  }),
  S3_PREFIX: optional({
    pattern: '^(?!.*//)(?!/)[A-Za-z0-9._/-]{1,200}$',
    description: 'Prefix of all object names, for a shared bucket. Default: no prefix.',
    must: 'letters, digits, dots, underscores, hyphens and single slashes, not at the start, at most 200',
    example: 'depot/',
  }),
  S3_DOWNLOADS: choice({
    description:
      'How clients download the files of versions. proxy: Depot sends the files. redirect: Depot counts the download and ' +
      'redirects the client to a temporary URL of the store.',
    values: ['proxy', 'redirect'],
    default: 'proxy',
    example: 'redirect',
  }),
  REDIS_URL: optional({
    description:
      'URL of a Redis server, version 6.2 or later, or Valkey, for the counters of limits; see docs/operators/engines/redis.md. ' +
      'Default: each process counts separately.',
    must: 'a redis:// or rediss:// URL, whose path is empty or the number of a database',
    example: 'redis://depot:password@redis.example.org:6379/0',
    secret: true,
    check: isRedisAddress,
  }),
  REDIS_PREFIX: Type.String({
    pattern: '^[\\x21-\\x7e]{1,64}$',
    default: 'depot:',
    description: 'Prefix of all keys in Redis.',
    must: 'visible ASCII characters without spaces, at most 64',
    example: 'depot-test:',
  }),
}
