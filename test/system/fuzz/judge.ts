// Sends generated requests to the real application and checks the responses.
import type { LightMyRequestResponse } from 'fastify'
import { ERRORS } from '#lib/errors.ts'
import { createLogTo } from '#platform/telemetry/log.ts'
import type { Request } from '#test/api/operations/requests.ts'
import { answerJudge } from '#test/support/app/declared-errors-check.ts'
import { judgeAnswer, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { asObject, type Json } from '#test/support/http/openapi-rules.ts'
import { longestHoldMs, processorMs, slowness } from '#test/support/processes/processor-time.ts'

/** No request may hold the event loop longer, in milliseconds of processor time on a machine that does nothing else. */
export const HOLD_MS_MAX = 20
/** Maximum time of a request that cannot be repeated, and might run code for the first time. */
const ONCE_MS_MAX = 150
const REPEATS = 4

const WORDS = new Set<unknown>(Object.values(ERRORS).map(({ error }) => error))
/** Operations that describe the process in their own format and return 503 if a part is not ready. */
const SPEAK_OF_THE_PROCESS = new Set(['getReadiness', 'getHealth'])
/** RFC 6749 gives the words. */
const OTHER_ERROR_WORDS = new Set(['exchangeCode', 'introspectToken', 'revokeToken'])

export type Fuzzed = {
  t: TestApp
  /** Sends a request and says what is wrong with its answer, if anything is. */
  judge(operation: Json, request: Request): Promise<Judgement>
  /**
   * Sends a request and describes a status of the server's fault, or too much time. `make` returns a slightly different
   * request for each attempt, because a cache could have the result of a former attempt.
   */
  judgeCost(make: MakeRequest): Promise<{ status: number; problem?: string }>
  close(): Promise<void>
}

type MakeRequest = (attempt: number) => Request | Promise<Request>
export type Judgement = { status: number; etag: string | undefined; processorMs: number; problem?: string }

/** Starts a separate application, which checks its responses after it measured them. */
export async function startFuzzed(): Promise<Fuzzed> {
  const errors: string[] = []
  let problems: unknown[] = []
  let check: (() => unknown[]) | undefined
  let undeclared: string | undefined
  const t = await testApp({
    env: { SCANNER_COMMAND: 'true' },
    deps: () => ({ log: createLogTo({ write: (line) => void errors.push(line) }, 'error') }),
    watch: (app) => {
      const judgeErrors = answerJudge(app)
      app.addHook('onSend', (req, reply, payload, done) => {
        // Checks the payload before compression.
        check = () => {
          const { text, problems } = judgeAnswer(req, reply, payload)
          undeclared = judgeErrors(req, reply, text)
          return problems
        }
        done(null, payload)
      })
    },
  })
  await t.searchable()
  const send = (request: Request): Promise<LightMyRequestResponse> => t.inject(request)

  /**
   * Reports a request that blocks the event loop too long. Uses the lowest of several times, to exclude compilation and
   * garbage collection.
   */
  const findHold = async (make: MakeRequest, status: number, ms: number): Promise<string | undefined> => {
    // The measurement of the machine takes longer than most requests.
    const factor = ms < HOLD_MS_MAX ? 1 : slowness()
    if (ms < HOLD_MS_MAX * factor) return undefined
    let lowest = Number.POSITIVE_INFINITY
    // Compilation and garbage collection take less than this limit.
    const repeats = ms > 10 * HOLD_MS_MAX * factor ? 1 : REPEATS
    for (let i = 0; i < repeats; i += 1) {
      const request = await make(i + 1)
      const { result, ms: held } = await longestHoldMs(() => send(request))
      if (result.statusCode !== status)
        return ms > ONCE_MS_MAX * factor ? `took ${ms.toFixed(0)} ms of the thread, once` : undefined
      lowest = Math.min(lowest, held)
    }
    return lowest > HOLD_MS_MAX * slowness() ? `holds the event loop for ${lowest.toFixed(0)} ms` : undefined
  }

  return {
    t,
    judge: async (operation, request) => {
      errors.length = 0
      check = undefined
      undeclared = undefined
      const { result: answer, ms } = await processorMs(() => send(request))
      problems = check === undefined ? [] : (check as () => unknown[])()
      const status = answer.statusCode
      const problem =
        problemOf(operation, answer, errors) ??
        undeclared ??
        (problems.length > 0 ? `against its schema: ${JSON.stringify(problems.slice(0, 2))}` : undefined) ??
        (await findHold(() => request, status, ms))
      const { etag } = answer.headers
      return { status, etag: etag?.toString(), processorMs: ms, ...(problem === undefined ? {} : { problem }) }
    },
    judgeCost: async (make) => {
      errors.length = 0
      const request = await make(0)
      const { result, ms } = await processorMs(() => send(request))
      const status = result.statusCode
      const fault = status >= 500 && status !== 503 ? `${result.body.slice(0, 200)} ${errors.at(-1)}` : undefined
      const problem = fault ?? (await findHold(make, status, ms))
      return { status, ...(problem === undefined ? {} : { problem }) }
    },
    close: () => t.close(),
  }
}

function problemOf(operation: Json, answer: LightMyRequestResponse, errors: readonly string[]): string | undefined {
  const { statusCode: status, body, headers } = answer
  const id = String(operation['operationId'])
  if (SPEAK_OF_THE_PROCESS.has(id)) return status < 500 || status === 503 ? undefined : `${status} ${body}`
  if (status >= 500) return `${status} ${body.slice(0, 200)} ${(errors.at(-1) ?? '').slice(0, 900)}`
  const declared = Object.keys(asObject(operation['responses']))
  if (!declared.includes(String(status)) && !(status >= 400 && declared.includes('default')))
    return `${status} is not declared: ${body.slice(0, 200)}`
  if (headers['x-request-id'] === undefined) return `${status} without X-Request-Id`
  if (status < 400) return undefined
  if (status === 404 && id.endsWith('V2') && body === '') return undefined
  // A response to HEAD.
  if (body === '' && headers['content-length'] !== '0') return undefined
  // An address that no route takes is a page to those who ask for pages.
  if (status === 404 && String(headers['content-type']).startsWith('text/html')) return undefined
  return errorProblem(id, status, body)
}

/** A refusal has a word of the table, and a text for people. */
function errorProblem(id: string, status: number, body: string): string | undefined {
  try {
    const { error, description } = JSON.parse(body) as Json
    if (!OTHER_ERROR_WORDS.has(id) && !WORDS.has(error)) return `${status} with the word ${error}`
    if (typeof description !== 'string' || description.length < 5) return `${status} without a description`
    return undefined
  } catch {
    return `${status} with a body that is no JSON: ${body.slice(0, 100)}`
  }
}
