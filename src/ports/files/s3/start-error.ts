// Explains to the operator why the bucket cannot be used at the start.
import { OperatorError } from '#lib/operator-error.ts'
import { type S3Location, statusOf } from './store-client.ts'

/** Returns an error that names the setting to check. */
export function startError(error: unknown, location: S3Location): OperatorError {
  const bucket = `${location.bucket} at ${location.endpoint ?? `Amazon S3, ${location.region}`}`
  return new OperatorError(`Depot cannot store its files in the S3 bucket ${bucket}: ${reason(error, location)}`, {
    cause: error,
    dependency: 'files',
  })
}

function reason(error: unknown, { region, pathStyle }: S3Location): string {
  if (error instanceof OperatorError) return error.message
  const name = error instanceof Error ? error.name : ''
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const status = statusOf(error)
  if (name === 'CredentialsProviderError')
    return 'no keys were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or assign a role to the machine'
  if (code === 'ENOTFOUND')
    return `the host does not exist (${message}). Check S3_ENDPOINT, and S3_PATH_STYLE, which is ${pathStyle}`
  if (code !== '') return `${message}. Check S3_ENDPOINT`
  if (/InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken/.test(name))
    return `the keys are invalid (${name}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
  if (status === 301 || status === 307 || /PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocation/.test(name))
    return `the bucket is in another region than ${region}. Check S3_REGION`
  if (status === 404) return 'the bucket does not exist. Create it, or check S3_BUCKET and S3_PATH_STYLE'
  if (status === 403)
    return `access is denied (${name}). Check the keys; docs/operators/engines/s3.md lists the rights that they need`
  return `the response ${status ?? 'is not that of an S3 store'} (${name}: ${message}). Check S3_ENDPOINT and S3_REGION`
}
