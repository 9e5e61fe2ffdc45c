// Answers that are ready bytes leave before the framework sees the request. They pass the same limiter and the same
// checks, carry the same headers, and are counted and logged like all others; what is special in any way goes the way of
// every request.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyContextConfig } from 'fastify'
import type { RateDecision } from '#lib/concurrency/rate.ts'
import { areTracesOn } from '#platform/telemetry/traces.ts'
import { clientAddress } from '../limits/client-address.ts'
import type { RateLimiter } from '../limits/rate-limit.ts'
import { checkHead, type RequestContextOptions } from '../request-context.ts'
import type { Answered } from '../request-log.ts'
import type { App } from '../server.ts'

/** The route that a ready answer belongs to: for limiter, metrics and log. */
export type FastPathRoute = { url: string; operation: string; config: FastifyContextConfig }

/**
 * What is ready for one request: the headers that the route and its scope would set, names and values in turn, without
 * those of every answer; no bytes for 304.
 */
export type Ready = { route: FastPathRoute; headers: readonly string[]; bytes: Buffer | undefined }

/**
 * Says what is ready for a GET, at once; undefined leaves it to the framework. It must do so for every request that has
 * a header on which the answer depends and which it does not look at itself.
 */
export type FastPathSource = (req: IncomingMessage) => Ready | undefined

const ONE_PIECE_BYTES_MAX = 16 * 1024

type ReadyOptions = RequestContextOptions & {
  limiter: Pick<RateLimiter, 'count' | 'giveBack' | 'remember'>
  note: (answered: Answered) => void
}

/** With one of these headers a request is the framework's, whatever it asks for. */
const SPECIAL = ['authorization', 'x-ratelimit-key', 'content-length', 'transfer-encoding', 'content-encoding'] as const

/**
 * Answers GETs for which one of the sources that `app.addFastPath` was given has an answer. To be called before any
 * route is added. Where requests are traced, which is work of its own, all of them go through the framework.
 */
export function serveFastPath(app: App, options: ReadyOptions): void {
  const sources: FastPathSource[] = []
  let isClosing = false
  app.decorate('addFastPath', (source: FastPathSource) => void sources.push(source))
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })

  const [framework] = app.server.listeners('request') as RequestListener[]
  if (framework === undefined) throw new Error('The server has no listener for requests')
  app.server.off('request', framework)
  app.server.on('request', (req, res) => {
    // A trace begins in a hook.
    const isUsual = isClosing || app.isDraining() || areTracesOn() || isSpecial(req)
    if (isUsual || !answer(req, res)) framework(req, res)
  })

  /** Whether the request is answered; otherwise nothing has been done for it. */
  function answer(req: IncomingMessage, res: ServerResponse): boolean {
    const startedAt = performance.now()
    const ready = find(req)
    if (ready === undefined) return false
    const { headers } = req
    const address = clientAddress(req, options.clientAddressHeader)
    if (address === undefined || checkHead(req, options.blockedUserAgents) !== undefined) return false
    const taken = options.limiter.count({ headers, address, config: ready.route.config })
    if (!(taken instanceof Promise)) {
      if (taken.allowed) send(req, res, { ready, taken, address, startedAt })
      else leave(req, res, taken)
      return true
    }
    taken.then(
      (counted) => {
        // It may have changed while the counters were asked.
        const current = counted.allowed ? find(req) : undefined
        if (current === undefined) leave(req, res, counted)
        else send(req, res, { ready: current, taken: counted, address, startedAt })
      },
      () => framework?.(req, res),
    )
    return true
  }

  function find(req: IncomingMessage): Ready | undefined {
    for (const source of sources) {
      const ready = source(req)
      if (ready !== undefined) return ready
    }
    return undefined
  }

  /** The framework answers after all, without counting once more. */
  function leave(req: IncomingMessage, res: ServerResponse, taken: RateDecision): void {
    options.limiter.remember(req, taken)
    framework?.(req, res)
  }

  type Sent = { ready: Ready; taken: RateDecision; address: string; startedAt: number }

  function send(req: IncomingMessage, res: ServerResponse, { ready, taken, address, startedAt }: Sent): void {
    const { route, bytes } = ready
    const id = randomUUID()
    const status = bytes === undefined ? 304 : 200
    const given =
      bytes === undefined ? options.limiter.giveBack({ headers: req.headers, address, config: route.config }) : 0
    res.once('finish', () => {
      const milliseconds = performance.now() - startedAt
      const { url, operation } = route
      options.note({ id, operation, method: 'GET', route: url, status, viewerId: undefined, milliseconds })
    })
    const head = [
      'x-request-id',
      id,
      'x-ratelimit-limit',
      String(taken.limit),
      'x-ratelimit-remaining',
      String(taken.remaining + given),
      'x-ratelimit-reset',
      String(taken.resetSeconds),
      ...ready.headers,
    ]
    if (bytes === undefined) return void res.writeHead(status, head).end()
    head.push('content-length', String(bytes.length))
    res.writeHead(status, head)
    // A text leaves in one piece with the head; bytes would be a second one, which costs the kernel more than a copy.
    if (bytes.length <= ONE_PIECE_BYTES_MAX) res.end(bytes.toString('latin1'), 'latin1')
    else res.end(bytes)
  }
}

function isSpecial({ method, headers }: IncomingMessage): boolean {
  return method !== 'GET' || SPECIAL.some((name) => headers[name] !== undefined)
}
