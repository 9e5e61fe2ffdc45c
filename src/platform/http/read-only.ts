// Read-only mode: rejects requests that change data.
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { ApiError } from '#lib/errors.ts'

/** Returns the message for callers in read-only mode; undefined if the service is not read-only. */
export type ReadOnlyState = () => Promise<string | undefined>

const RETRY_SECONDS = 60

/** Whether a route works in read-only mode: as declared in `whenReadOnly`, otherwise if its method or `auth` only read. */
export function answersWhenReadOnly(methods: readonly string[], { auth, whenReadOnly }: FastifyContextConfig): boolean {
  if (whenReadOnly !== undefined) return whenReadOnly !== 'refused'
  return (
    methods.every((method) => method === 'GET' || method === 'HEAD') || (typeof auth === 'object' && 'read' in auth)
  )
}

/** The onRequest hook of routes that change data. Runs after authentication and before the body is read. */
export function readOnlyHook(state: ReadOnlyState) {
  return async (_req: FastifyRequest): Promise<void> => {
    const message = await state()
    if (message === undefined) return
    throw new ApiError('service_unavailable', message, { headers: { 'retry-after': String(RETRY_SECONDS) } })
  }
}
