// The examples of the API descriptions are the requests and responses of the authorization matrix. To record them again, run
// `UPDATE_EXAMPLES=1 npm test -- all-operations`, then `npm run gen`.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedExample } from '#platform/http/openapi/examples.ts'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { matrix, routes } from './authorization-matrix.ts'
import type { Answer, Caller } from './requests.ts'

const FILE = join(import.meta.dirname, '../../../src/main/api/examples.json')
/** Longer texts are cut, and longer lists have only their first items. */
const TEXT_LENGTH_MAX = 300
const ITEMS_MAX = 1
const KEYS_MAX = 40
/** Their response is the description that contains the examples. */
const DESCRIPTIONS = ['getOpenApi', 'getOlderOpenApi']

test('the examples of the API descriptions have the fields of real requests and responses', () => {
  const recorded: Record<string, RecordedExample> = {}
  for (const route of routes.filter(({ hidden, operationId }) => !hidden && !DESCRIPTIONS.includes(operationId))) {
    const example = exampleOf(route)
    if (example !== undefined) recorded[route.operationId] = example
  }
  if (process.env['UPDATE_EXAMPLES'] !== undefined) writeFileSync(FILE, `${JSON.stringify(recorded, undefined, 1)}\n`)
  const committed = JSON.parse(readFileSync(FILE, 'utf8')) as typeof recorded
  const hint = 'record them again: UPDATE_EXAMPLES=1 npm test -- all-operations; npm run gen'
  assert.deepEqual(Object.keys(committed).sort(), Object.keys(recorded).sort(), hint)
  const differing = Object.entries(recorded).flatMap(([id, now]) => {
    const difference = differs(committed[id], now, id)
    return difference === undefined ? [] : [difference]
  })
  assert.deepEqual(differing, [], hint)
})

/** Returns the example of an operation: the request of the owner, or of another caller who may send it. */
function exampleOf(route: RouteEntry): RecordedExample | undefined {
  const answers = matrix.get(route.operationId) ?? new Map<Caller, Answer>()
  const callers = ['owner', 'admin', 'moderator', 'publisher', ...answers.keys()] as Caller[]
  const succeeded = callers.flatMap((caller) => {
    const answer = answers.get(caller)
    return answer === undefined || answer.status >= 400 ? [] : [answer]
  })
  const answer = succeeded.find(({ body }) => body !== '[]') ?? succeeded[0]
  if (answer === undefined) return undefined
  const parameters = parametersOf(route, answer.sent)
  return withoutChance({
    parameters,
    body: shorten(bodyOf(answer.sent)),
    status: answer.status,
    answer: answerOf(answer),
  })
}

function parametersOf({ url }: RouteEntry, { url: sent, query }: Answer['sent']): Record<string, string> | undefined {
  const parts = String(sent).split('/')
  const inPath = url.split('/').flatMap((part, index): [string, string][] => {
    const [, name, ending = ''] = /^:(\w+)(.*)$/.exec(part) ?? []
    const value = decodeURIComponent(parts[index] ?? '')
    return name === undefined ? [] : [[name, value.slice(0, value.length - ending.length)]]
  })
  const all = { ...Object.fromEntries(inPath), ...(query as Record<string, string> | undefined) }
  return Object.keys(all).length === 0 ? undefined : all
}

function bodyOf({ payload, headers }: Answer['sent']): unknown {
  if (payload === undefined) return undefined
  if (!Buffer.isBuffer(payload)) return payload
  const type = headers['content-type'] ?? ''
  if (type.includes('json')) return JSON.parse(payload.toString())
  if (type.includes('urlencoded')) return Object.fromEntries(new URLSearchParams(payload.toString()))
  const [, data] = /name="data"[^\n]*\r\n(?:[^\r\n]+\r\n)*\r\n([^\r]*)\r\n/.exec(payload.toString('latin1')) ?? []
  return data === undefined ? undefined : { data: JSON.parse(Buffer.from(data, 'latin1').toString()) }
}

function answerOf({ body, type, status }: Answer): unknown {
  if (status >= 300 || body === '') return undefined
  if (/^application\/(?:[\w.]+\+)?json\b/.test(type)) return shorten(JSON.parse(body))
  return /^text\/(?!html)|jsonl|toml/.test(type) ? body.slice(0, TEXT_LENGTH_MAX) : undefined
}

function shorten(value: unknown): unknown {
  // An SVG image that is cut is invalid.
  if (typeof value === 'string')
    return value.length > TEXT_LENGTH_MAX && !value.startsWith('<svg') ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(shorten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, KEYS_MAX)
      .map(([key, each]) => [key, shorten(each)]),
  )
}

/** Replaces what is different at each run: IDs, hashes, secrets, times and addresses of the test. */
function withoutChance(example: Record<keyof RecordedExample, unknown>): RecordedExample {
  let text = JSON.stringify(example)
  const named = [...text.matchAll(/(?:id|\bthread|\bteam|\bauthor)":"([0-9A-Za-z]{8})"/g)].map(([, id = '']) => id)
  const others = [...text.matchAll(/"([0-9A-Za-z]{8})"/g)].map(([, id = '']) => id).filter((id) => !WORD.test(id))
  const ids = [...named, ...others]
  for (const [index, id] of [...new Set(ids)].entries()) text = text.replaceAll(id, exampleId(index))
  text = text
    .replaceAll(
      /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
      '0f8fad5b-d9cb-469f-a165-70867728950e',
    )
    .replaceAll(/\b[0-9a-f]{32,128}\b/g, (hash) => 'c0ffee00'.repeat(16).slice(0, hash.length))
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|\+00:00)/g, '2026-03-01T12:00:00.000Z')
    .replaceAll(/(?:project-\d+|lantern)-[0-9a-z]{8}\b/g, 'lantern')
    .replaceAll('Project lantern', 'Lantern')
    .replaceAll('A project for a test.', 'Light for long nights.')
    .replaceAll(
      /(dp[a-z]_)?(?<![0-9A-Za-z])[0-9A-Za-z]{50,64}\b/g,
      (secret, prefix = '') => prefix + 'EXAMPLE'.repeat(10).slice(0, secret.length - prefix.length),
    )
    .replaceAll(/https?:\/\/(?:depot\.test|127\.0\.0\.1(?::\d+)?)/g, 'https://mods.example.org')
    .replaceAll('depot.test', 'mods.example.org')
    .replaceAll(/person-\d+/g, 'someone')
  return JSON.parse(text)
}

/** Words of eight letters or digits that are not IDs, such as `tokenUrl`, `READ_ONLY` or a year and a month. */
const WORD = /^(?:[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|\d+)$/

/** `AABBCCDD`, `AABBCCDE` and so on. */
const exampleId = (index: number): string =>
  `AABBCC${'DEFGHIJKLMNOPQRSTUVWXYZ'[Math.floor(index / 23)]}${'DEFGHIJKLMNOPQRSTUVWXYZ'[index % 23]}`

/** Fields of projects that have versions: a list shows any project of the test. */
const OF_VERSIONS = ['environment', 'game_versions']
/** Maps whose keys depend on the first item of a list. */
const OPEN_MAPS = ['details', 'project_loader_fields', 'values']

/** Returns the first place where one has fields that the other does not have. Null and empty lists stand for any value. */
function differs(committed: unknown, now: unknown, place: string): string | undefined {
  if (Array.isArray(committed) && Array.isArray(now))
    return committed.length === 0 || now.length === 0 ? undefined : differs(committed[0], now[0], `${place}[]`)
  if (!isObject(committed) || !isObject(now)) return undefined
  const [before, after] = [Object.keys(committed), Object.keys(now)]
  const missing = before.filter((key) => !after.includes(key) && !OF_VERSIONS.includes(key))
  const added = after.filter((key) => !before.includes(key) && !OF_VERSIONS.includes(key))
  if (missing.length + added.length > 0) return `${place}: no longer ${missing.join(', ')}; new ${added.join(', ')}`
  for (const key of before.filter((each) => !OPEN_MAPS.includes(each))) {
    const found = differs(committed[key], now[key], `${place}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
