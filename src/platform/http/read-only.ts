// Read-only mode: what changes something is refused, everything else goes on.
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { ApiError } from '#lib/errors.ts'

/** What callers are told while the service is read-only; undefined while it is not. */
export type ReadOnlyState = () => Promise<string | undefined>

const RETRY_SECONDS = 60

/** Whether a route goes on in read-only mode: as it says itself, else where it reads by its method or its `auth`. */
export function answersWhenReadOnly(methods: readonly string[], { auth, whenReadOnly }: FastifyContextConfig): boolean {
  if (whenReadOnly !== undefined) return whenReadOnly === 'answers'
  return (
    methods.every((method) => method === 'GET' || method === 'HEAD') || (typeof auth === 'object' && 'read' in auth)
  )
}

/** The onRequest hook of a route that changes something. It comes after credentials and before the body. */
export function readOnlyHook(state: ReadOnlyState) {
  return async (_req: FastifyRequest): Promise<void> => {
    const message = await state()
    if (message === undefined) return
    throw new ApiError('service_unavailable', message, { headers: { 'retry-after': String(RETRY_SECONDS) } })
  }
}
