// The errors that the client throws.
import type { ErrorCode } from './generated/tables.ts'

export type { ErrorCode }

/** One of several problems of a request. */
export type Problem = { error: ErrorCode | (string & {}); field?: string; message: string }

type Body = { error?: unknown; description?: unknown; details?: unknown; errors?: unknown }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** A response that is an error. */
export class DepotError extends Error {
  override readonly name = 'DepotError'
  /** HTTP status. */
  readonly status: number
  /** Error code; `unknown` if the response is not from Depot, for example from a proxy. */
  readonly error: ErrorCode | 'unknown'
  /** Details for programs, such as `field`: the path of the invalid value. */
  readonly details: Readonly<Record<string, unknown>>
  /** All problems of the request; the first one is that of `details`. */
  readonly errors: readonly Problem[]
  /** ID of the request in the operator's log. */
  readonly requestId: string | undefined
  /** Seconds after which the server accepts the request again, if it said so. */
  readonly retryAfter: number | undefined

  constructor(response: Response, body: unknown) {
    const { error, description, details, errors }: Body = isRecord(body) ? body : {}
    super(typeof description === 'string' ? description : `HTTP ${response.status} ${response.statusText}`.trim())
    this.status = response.status
    this.error = typeof error === 'string' ? (error as ErrorCode) : 'unknown'
    this.details = isRecord(details) ? details : {}
    this.errors = Array.isArray(errors) ? (errors as Problem[]) : firstProblem(this.error, this.details)
    this.requestId = response.headers.get('x-request-id') ?? undefined
    this.retryAfter = retryAfterSeconds(response)
  }

  /** Path of the invalid value, such as `dependencies.3.project_id`. */
  get field(): string | undefined {
    return typeof this.details['field'] === 'string' ? this.details['field'] : undefined
  }
}

function firstProblem(error: ErrorCode | 'unknown', { field, message }: Readonly<Record<string, unknown>>): Problem[] {
  if (typeof message !== 'string') return []
  return [typeof field === 'string' ? { error, field, message } : { error, message }]
}

/** Returns the error of a response, whatever its body is. */
export async function errorOf(response: Response): Promise<DepotError> {
  const text = await response.text().catch(() => '')
  return new DepotError(response, parse(text))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the seconds of `Retry-After`, which is a number or a date. */
export function retryAfterSeconds(response: Response): number | undefined {
  const value = response.headers.get('retry-after')
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
