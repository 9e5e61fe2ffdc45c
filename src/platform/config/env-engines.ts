// Variables that put an engine of the operator's behind a port.
import Type from 'typebox'
import { isEngineAddress, isRedisAddress, isWebAddress } from './env-values.ts'
import { choice, optional, WEB } from './variable.ts'

export const ENGINE_VARIABLES = {
  OPENSEARCH_URL: optional(
    {
      description:
        'OpenSearch 2.19 or later that holds the search index for all processes; see docs/engines/opensearch.md. Unset: each ' +
        'process has an index of its own in memory.',
      must: 'an http or https address without query and fragment',
      example: 'https://depot:password@search.example.org:9200',
      secret: true,
    },
    isEngineAddress,
  ),
  OPENSEARCH_INDEX: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,99}$',
    default: 'depot',
    description: 'Name of the alias in OpenSearch, and beginning of the names of its indexes. One for each Depot.',
    must: 'lower-case letters, digits, hyphens and underscores, at most 100, the first a letter or digit',
    example: 'depot-test',
  }),
  S3_BUCKET: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$',
      description:
        'Bucket of an S3-compatible store that keeps the files, in place of DATA_DIR/files; see docs/engines/s3.md. Keys come ' +
        'from where the AWS SDK looks, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
      must: 'the name of a bucket: 3 to 255 letters, digits, dots, hyphens and underscores',
      example: 'depot-files',
    }),
  ),
  S3_ENDPOINT: optional(
    {
      description: "Address of the S3-compatible store. Unset: Amazon's, in S3_REGION.",
      must: WEB,
      example: 'https://s3.example.org',
    },
    isWebAddress,
  ),
  S3_REGION: Type.String({
    pattern: '^[A-Za-z0-9-]{1,64}$',
    default: 'us-east-1',
    description: 'Region of the bucket.',
    must: 'letters, digits and hyphens, at most 64',
    example: 'eu-central-1',
  }),
  S3_PATH_STYLE: Type.Optional(
    Type.Boolean({
      description:
        'Whether the bucket stands in the path of an address instead of its host. Default: true when S3_ENDPOINT is set.',
      must: 'true or false',
      example: 'true',
    }),
  ),
  S3_PREFIX: Type.Optional(
    Type.String({
      pattern: '^(?!.*//)(?!/)[A-Za-z0-9._/-]{1,200}$',
      description: 'What the name of every object begins with, when others use the bucket as well.',
      must: 'letters, digits, dots, underscores, hyphens and single slashes, not at the start, at most 200',
      example: 'depot/',
    }),
  ),
  S3_DOWNLOADS: choice(
    {
      description:
        'How files of versions are downloaded from the store: "proxy" passes the bytes through Depot, "redirect" ' +
        'counts the download and sends the client to an address at the store that holds for some minutes.',
      example: 'redirect',
    },
    ['proxy', 'redirect'],
    'proxy',
  ),
  REDIS_URL: optional(
    {
      description:
        'Redis 6.2 or later, or Valkey, in which all processes count together for their limits; see docs/engines/redis.md. ' +
        'Unset: each process counts for itself.',
      must: 'a redis:// or rediss:// address, with no path but the number of a database',
      example: 'redis://depot:password@redis.example.org:6379/0',
      secret: true,
    },
    isRedisAddress,
  ),
  REDIS_PREFIX: Type.String({
    pattern: '^[\\x21-\\x7e]{1,64}$',
    default: 'depot:',
    description: 'What the name of every key in Redis begins with.',
    must: 'visible ASCII characters without spaces, at most 64',
    example: 'depot-test:',
  }),
}
