// What an operator reads when the bucket cannot be used.
import { OperatorError } from '#lib/operator-error.ts'
import type { S3Location } from './s3-files.ts'
import { statusOf } from './store-client.ts'

/** The failure of the first requests, with the setting to look at. */
export function startError(error: unknown, location: S3Location): OperatorError {
  const place = `${location.bucket} at ${location.endpoint ?? `Amazon S3, ${location.region}`}`
  return new OperatorError(`Depot cannot keep its files in the S3 bucket ${place}: ${reason(error, location)}`, {
    cause: error,
    dependency: 'files',
  })
}

function reason(error: unknown, { region, pathStyle }: S3Location): string {
  if (error instanceof OperatorError) return error.message
  const name = error instanceof Error ? error.name : ''
  const said = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const status = statusOf(error)
  if (name === 'CredentialsProviderError') {
    return 'no keys were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role'
  }
  if (code === 'ENOTFOUND') {
    return `the host does not exist (${said}). Check S3_ENDPOINT, and S3_PATH_STYLE, which is ${pathStyle}`
  }
  if (code !== '') return `${said}. Check S3_ENDPOINT`
  if (/InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken/.test(name)) {
    return `the keys are refused (${name}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
  }
  if (status === 301 || status === 307 || /PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation/.test(name)) {
    return `the bucket is in another region than ${region}. Check S3_REGION`
  }
  if (status === 404) return 'the bucket does not exist. Make it, or check S3_BUCKET and S3_PATH_STYLE'
  if (status === 403) {
    return `access is denied (${name}). Check the keys; docs/engines/s3.md lists the rights that they need`
  }
  return `it answers ${status ?? 'otherwise than an S3 store'} (${name}: ${said}). Check S3_ENDPOINT and S3_REGION`
}
