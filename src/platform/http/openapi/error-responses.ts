// The refusals of each operation in the description: which statuses, which words, and an example of each.
import { createHash } from 'node:crypto'
import type { ErrorBody } from '../error-handler.ts'
import type { RouteEntry } from '../route-config.ts'
import { type DeclaredError, declaredErrors, readSeenErrors } from './declared-errors.ts'
import { STATUS_WORDS } from './texts.ts'

type Json = Record<string, unknown>
type Answer = { description: string; content?: Json }
type Declared = Record<string, Answer>
type Answers = Record<string, Answer | { $ref: string }>

/** An example that so many operations have stands once, among the components. */
const SHARED_BY_MIN = 3

/**
 * Puts the statuses that an operation can answer with in the place of `4XX` and `5XX`, which stand for their schemas.
 * `routes` are those of the document, in the form that the server lists them in.
 */
export function describeErrors(document: Json, routes: readonly RouteEntry[]): Json {
  const seen = readSeenErrors()
  const byId = new Map(routes.filter(({ hidden }) => !hidden).map((route) => [route.operationId, route]))
  const uses = new Map<string, number>()
  const operations = Object.values(document['paths'] as Json).flatMap((item) =>
    Object.values(item as Record<string, { operationId: string; responses: Declared }>).flatMap((operation) => {
      const route = byId.get(operation.operationId)
      if (route === undefined) return []
      const errors = withOwnForm(operation.responses, declaredErrors(route, seen))
      for (const { example } of errors) {
        if (example !== undefined) uses.set(nameOf(example), (uses.get(nameOf(example)) ?? 0) + 1)
      }
      return [{ operation, route, errors }]
    }),
  )
  const shared = new Map<string, ErrorBody>()
  const show = (example: ErrorBody): Json => {
    const name = nameOf(example)
    if ((uses.get(name) ?? 0) < SHARED_BY_MIN) return { value: example }
    shared.set(name, example)
    return { $ref: `#/components/examples/${name}` }
  }
  const responses = shareAnswers(
    operations.map(({ operation, route, errors }) => {
      const answers = describeAnswers(operation.responses, route, errors, show)
      Object.assign(operation, { responses: answers })
      return answers
    }),
  )
  const examples = sorted(new Map([...shared].map(([name, value]) => [name, { value }])))
  return { ...document, components: { ...(document['components'] as Json), examples, responses } }
}

/** Where refusals have the words of another standard, a 400 is never one of ours. */
function withOwnForm(answers: Declared, errors: readonly DeclaredError[]): DeclaredError[] {
  const isOwn = JSON.stringify(answers['4XX'] ?? {}).includes('OAuthError')
  return errors.filter(({ status, error }) => !isOwn || status !== 400 || error.startsWith('invalid_request'))
}

function describeAnswers(
  { '4XX': refusals, '5XX': failures, ...declared }: Declared,
  { method, config }: RouteEntry,
  errors: readonly DeclaredError[],
  show: (example: ErrorBody) => Json,
): Answers {
  const statuses = [...new Set(errors.map(({ status }) => status))]
  // What a group of routes declares for all is left out where it cannot happen.
  const success = Object.entries(declared).filter(([status]) => status < '400' || status === '503')
  const answers: Answers = Object.fromEntries(success)
  if (method === 'GET' && (config.cache ?? 'no-store') !== 'no-store') answers[304] = { description: word('304') }
  for (const status of statuses) {
    const own = errors.filter((each) => each.status === status)
    const common =
      status < 300
        ? declared[200]
        : status < 400
          ? undefined
          : (declared[status] ?? (status < 500 ? refusals : failures))
    answers[status] = describeStatus(status, own, common?.content, show)
  }
  return Object.fromEntries(Object.entries(answers).sort(([a], [b]) => Number(a) - Number(b)))
}

function describeStatus(
  status: number,
  errors: readonly DeclaredError[],
  content: Json | undefined,
  show: (example: ErrorBody) => Json,
): Answer {
  const examples = errors.flatMap(({ error, example }) => (example === undefined ? [] : [[error, show(example)]]))
  if (status < 400) return { description: word(String(status)), ...(content === undefined ? {} : { content }) }
  if (examples.length === 0) return { description: `${word(String(status))}; no body` }
  const words = examples.map(([error]) => `\`${error}\``).join(', ')
  const { schema } = (content?.['application/json'] ?? { schema: { $ref: '#/components/schemas/Error' } }) as Json
  return {
    description: `${word(String(status))}: ${words}`,
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  }
}

function word(status: string): string {
  return STATUS_WORDS[status] ?? 'Refused'
}

/** From the words of the answer, so that it stays the same when others come and go. */
function nameOf(example: ErrorBody): string {
  const words = example.description
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
  return `${example.error}.${words.replaceAll(/^-|-$/g, '')}.${digest(example)}`
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8)
}

/** Refusals that several operations give alike stand once, among the components. */
function shareAnswers(all: readonly Answers[]): Json {
  const uses = new Map<string, number>()
  const nameOfAnswer = (status: string, answer: unknown): string => `refused-${status}.${digest(answer)}`
  const refusals = all.flatMap((answers) => Object.entries(answers).filter(([status]) => status >= '400'))
  for (const [status, answer] of refusals) {
    const name = nameOfAnswer(status, answer)
    uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  const shared = new Map<string, Json>()
  for (const answers of all) {
    for (const [status, answer] of Object.entries(answers)) {
      const name = nameOfAnswer(status, answer)
      if ((uses.get(name) ?? 0) < SHARED_BY_MIN) continue
      shared.set(name, answer)
      answers[status] = { $ref: `#/components/responses/${name}` }
    }
  }
  return sorted(shared)
}

function sorted(values: ReadonlyMap<string, unknown>): Json {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}
