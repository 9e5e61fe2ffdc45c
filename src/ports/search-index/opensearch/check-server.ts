// Checks the OpenSearch server at the start. Errors that only the operator can fix prevent the start.
import { OperatorError } from '#lib/operator-error.ts'
import { type ConnectionOptions, EngineError, openConnection } from './connection.ts'
import { dropIndex, findIndex, newIndexName } from './indices.ts'

const MIN_VERSION = [2, 19] as const
/** Errors of TLS: a wrong certificate, or a server without TLS. */
const TLS_FAULT = /certificate|ssl|tls|wrong version number/i

/**
 * Checks version, user, permissions and names. Returns why the server does not respond; undefined if all is correct.
 * @throws OperatorError that names the setting to change.
 */
export async function checkOpenSearch(options: ConnectionOptions & { prefix: string }): Promise<string | undefined> {
  const connection = openConnection(options)
  const { prefix } = options
  try {
    await checkVersion(connection)
    const index = await findIndex(connection, prefix)
    if (index?.name === prefix) {
      throw new OperatorError(
        `An index named ${prefix} exists, but Depot needs this name for an alias. Set OPENSEARCH_INDEX to another name`,
      )
    }
    const name = newIndexName(prefix)
    await connection.request({ kind: 'manage', method: 'PUT', path: `/${name}`, query: { wait_for_active_shards: 0 } })
    await dropIndex(connection, name)
    return undefined
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (error instanceof EngineError) throw new OperatorError(rejectionText(error, prefix), { cause: error })
    const reason = reasonOf(error)
    if (TLS_FAULT.test(reason)) {
      throw new OperatorError(
        `OPENSEARCH_URL: no secure connection: ${reason}. For a private certificate authority, set NODE_EXTRA_CA_CERTS`,
        { cause: error },
      )
    }
    return reason
  } finally {
    await connection.close()
  }
}

async function checkVersion(connection: ReturnType<typeof openConnection>): Promise<void> {
  type Info = { version?: { distribution?: string; number?: string } }
  const { body } = await connection.request<Info>({ kind: 'status', method: 'GET', path: '/' })
  const { distribution, number = '' } = body.version ?? {}
  if (distribution !== 'opensearch') {
    throw new OperatorError(
      'OPENSEARCH_URL names a server that is not OpenSearch; Depot needs OpenSearch 2.19 or later',
    )
  }
  const [major = 0, minor = 0] = number.split('.').map(Number)
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]))
    throw new OperatorError(`OPENSEARCH_URL names OpenSearch ${number}; Depot needs 2.19 or later`)
}

function rejectionText({ status, message }: EngineError, prefix: string): string {
  if (status === 401) return 'OPENSEARCH_URL: user or password is wrong'
  if (status === 403)
    return `OPENSEARCH_URL: the user lacks a permission (${message}). docs/operators/engines/opensearch.md lists the permissions that it needs on ${prefix} and ${prefix}-*`
  if (status === 404) return 'OPENSEARCH_URL: OpenSearch does not respond at this URL'
  return `OPENSEARCH_URL: ${message}`
}

function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  return cause instanceof Error ? cause.message : String(error instanceof Error ? error.message : error)
}
