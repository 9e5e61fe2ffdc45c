// The places of a request in which a character or pair is repeated, and the texts.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RouteEntry } from '#platform/http/route-config.ts'
import type { Request } from '#test/api/operations/requests.ts'
import { form, modJar } from '#test/support/http/forms.ts'
import { asList, asObject, type Json } from '#test/support/http/openapi-rules.ts'

/** The head of a request has at most 64 KiB; the rest of it needs some of them. */
export const HEAD_BYTES = 60_000
const BODY_BYTES = [2_000, 65_536, 200_000]
/** Small forms and forms of publishers have different limits. */
export const FORM_BYTES = [60_000, 1_000_000]
/** Most expressions skip white space, and read digits and slashes. */
const FREQUENT_UNITS = [' ', '\t', '0', '/']
const UNITS = [...' \t\n0a/\\.-_\'"()[]{}<>&=,;:*@#%!|+~`$^?é']
const ENDS = ['', 'x', '!', '\n']
/** Beginnings of texts that Depot parses. */
const STARTS = ['', 'a', 'categories:', '[["', 'gzip', 'text/html;q=', 'W/"', 'bytes=', '1.0-', 'http://a']
export const FILTER_STARTS = ['downloads > ', 'categories = ', '[["downloads > ']
/** Parameters with a grammar come as often as all others. */
export const FILTER_NAMES = /filter|facet/
/** Headers with a grammar, which come as often as all others. */
export const LIST_HEADERS = ['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'range']
export const HEADERS = [
  'authorization',
  'content-type',
  'cookie',
  'if-match',
  'if-modified-since',
  'if-range',
  'origin',
  'referer',
  'upload-checksum',
  'upload-metadata',
  'user-agent',
]
/** Several keys of a page get long values in one request, so that fewer requests are necessary. */
const KEYS_PER_REQUEST = 5

const SOURCES = globSync('src/web/**/*.ts', { cwd: join(import.meta.dirname, '../../..') })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8'))
  .join('\n')
const namesIn = (pattern: RegExp): string[] => [...new Set([...SOURCES.matchAll(pattern)].map(([, name = '']) => name))]
export const PAGE_KEYS = namesIn(/(?:query|get|getAll|has)\('([a-z_]+)'\)/g)
/** Keys of lists, and of the site whose links they accept. */
export const LINK_KEYS = ['q', 'f', 'g', 's', 'm', 'nf', 'h', 'pid', 'l', 'o', 'e', 'v', 'c']
export const FORM_FIELDS = namesIn(/(?:name="|name: '|\w\(')([a-z][a-z_]+)['"]/g)

export type Random = { below(limit: number): number; of<T>(list: readonly T[]): T }
export type Target = { route: RouteEntry; operation: Json | undefined }
export type Session = { cookie: string; csrf: string; slug: string }
/** `fewer`: number of units that are left out. */
export type Text = { start: string; unit: string; end: string; fewer: number }
export type Work = Target & { random: Random; session: Session; text: Text; sample: Request }
export type Change = (work: Work) => Request | Promise<Request>
export type Case = { target: Target; change: Change; text: Text; seed: number }

export const isPage = ({ operation }: Target): boolean => operation === undefined
export const isRead = ({ route }: Target): boolean => route.method === 'GET'
const hasPlace = ({ route }: Target): boolean => route.url.includes(':')
const isSimplePage = (target: Target): boolean => isPage(target) && isRead(target) && !hasPlace(target)
const isFiltered = (target: Target): boolean => freeNames(target).some((name) => FILTER_NAMES.test(name))

/** Returns the query parameters of an operation that accept long texts. Others are compared with their schema only. */
export function freeNames({ operation }: Target): string[] {
  const parameters = asList(operation?.['parameters']).filter((parameter) => {
    const { enum: values, maxLength = HEAD_BYTES, type = 'string' } = asObject(parameter['schema'])
    return parameter['in'] === 'query' && type === 'string' && values === undefined && Number(maxLength) > 200
  })
  return parameters.map(({ name }) => String(name))
}

function inPath({ route, sample, text, random }: Work): Request {
  const parts = String(sample.url).split('/')
  const places = route.url.split('/').flatMap((part, index) => (part.startsWith(':') ? [index] : []))
  // A slash ends a part of the path, so it stays as it is.
  const long = encode(text, random.of([1_900, HEAD_BYTES])).replaceAll('%2F', '/')
  const isAdded = places.length === 0 || random.below(4) === 0
  return { ...sample, url: isAdded ? `${sample.url}${long}` : parts.with(random.of(places), long).join('/') }
}

function inHeader(work: Work): Request {
  return inHeaderNamed(work, work.random.of(work.random.of([HEADERS, LIST_HEADERS])))
}

export function inHeaderNamed({ sample, text }: Work, name: string): Request {
  const value = repeat(text, HEAD_BYTES).replace(/[^\t\x20-\x7e]/g, ' ')
  // The server trims white space at both ends.
  return { ...sample, headers: { ...sample.headers, [name]: value.trim() } }
}

function inFilter(work: Work): Request {
  const { text, random } = work
  const names = freeNames(work).filter((name) => FILTER_NAMES.test(name))
  return inQuery(work, [random.of(names)], { ...text, start: random.of(FILTER_STARTS) })
}

function inParameter(work: Work): Request {
  return inQuery(work, [work.random.of(freeNames(work))], work.text)
}

function inPageQuery(work: Work): Request {
  return inQuery(work, someOf(PAGE_KEYS, work.random), work.text)
}

function inLinkQuery(work: Work): Request {
  return inQuery(work, someOf(LINK_KEYS, work.random), work.text)
}

function someOf(names: readonly string[], random: Random): string[] {
  const first = random.below(names.length)
  return names.slice(first, first + KEYS_PER_REQUEST)
}

export function inQuery({ sample }: Work, names: readonly string[], text: Text): Request {
  const { query, ...rest } = sample
  const kept = Object.entries(asObject(query)).filter(([name]) => !names.includes(name))
  const long = names.map((name) => `${name}=${encode(text, HEAD_BYTES / names.length)}`)
  const all = [...kept.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`), ...long]
  return { ...rest, url: `${String(sample.url).split('?')[0]}?${all.join('&')}` }
}

function inPageForm(work: Work): Request {
  return inFields(work, someOf(FORM_FIELDS, work.random), work.random.of(FORM_BYTES))
}

export function inFields({ sample, session, text }: Work, names: readonly string[], formBytes: number): Request {
  const bytes = formBytes / names.length
  const fields = names.map((name) => `${name}=${encode(text, bytes)}`)
  const body = [`_csrf=${encodeURIComponent(session.csrf)}`, ...fields].join('&')
  return withPayload(sample, Buffer.from(body), 'application/x-www-form-urlencoded')
}

function inBody(work: Work): Request | Promise<Request> {
  const { sample, text, random } = work
  const long = repeat(text, random.of(BODY_BYTES))
  if (Buffer.isBuffer(sample.payload)) return inFileForm(sample, long, random.below(3))
  if (typeof sample.payload !== 'object' || sample.payload === null) return inHeader(work)
  const body = JSON.stringify(replaceString(sample.payload, long, random))
  return withPayload(sample, Buffer.from(body), 'application/json')
}

/** Replaces the name of a file, the name of its part, or the data of a form. */
export async function inFileForm(sample: Request, long: string, place: number): Promise<Request> {
  const file = { name: place === 0 ? long : 'file', filename: place === 1 ? long : 'a.jar', bytes: modJar('repeats') }
  const made = await form(place === 2 ? { name: long, slug: long, version_number: long } : {}, [file])
  return withPayload(sample, made.payload, made.headers['content-type'])
}

/** Sends bytes, because the time to convert a body would count as time of the server. */
function withPayload(sample: Request, payload: Buffer, type: string): Request {
  return { ...sample, headers: { ...sample.headers, 'content-type': type }, payload }
}

type Place = { choose: (targets: readonly Target[], random: Random) => readonly Target[]; change: Change }

const choose = (isWanted: (target: Target) => boolean) => (targets: readonly Target[]) => targets.filter(isWanted)

/** Each place gets the same number of requests. Most headers, and the longest paths, are read in the same way on every route. */
export const PLACES: readonly Place[] = [
  { choose: choose((target) => isSimplePage(target) && target.route.url === '/about'), change: inHeader },
  { choose: choose(isSimplePage), change: inHeader },
  { choose: choose((target) => isRead(target)), change: inPath },
  { choose: choose(isFiltered), change: inFilter },
  { choose: choose((target) => freeNames(target).length > 0), change: inParameter },
  { choose: choose(isSimplePage), change: inPageQuery },
  { choose: choose((target) => isSimplePage(target) && /^\/[a-z]+s$/.test(target.route.url)), change: inLinkQuery },
  { choose: choose((target) => isPage(target) && isRead(target)), change: inPageQuery },
  { choose: choose((target) => !isPage(target) && !isRead(target)), change: inBody },
  { choose: choose((target) => isPage(target) && !isRead(target)), change: inPageForm },
]

export function textOf(random: Random): Text {
  const first = random.of(random.below(2) === 0 ? FREQUENT_UNITS : UNITS)
  const unit = random.below(3) === 0 ? first + random.of(UNITS) : first
  return { start: random.of(STARTS), unit, end: random.of(ENDS), fewer: 0 }
}

export function repeat({ start, unit, end, fewer }: Text, bytes: number): string {
  return start + unit.repeat(Math.max(1, Math.floor((bytes - start.length) / unit.length) - fewer)) + end
}

/** Returns a percent-encoded text of at most this number of bytes. A space needs one byte. */
export function encode(text: Text, bytes: number): string {
  const growth = encodeURIComponent(text.unit).replaceAll('%20', '+').length / text.unit.length
  return encodeURIComponent(repeat(text, bytes / growth)).replaceAll('%20', '+')
}

/** Returns a copy of a JSON value in which one string is replaced. */
function replaceString(value: unknown, text: string, random: Random): unknown {
  let count = 0
  const visit = (inner: unknown, place: number): unknown =>
    JSON.parse(JSON.stringify(inner), (_key, each) => {
      if (typeof each !== 'string') return each
      count += 1
      return count - 1 === place ? text : each
    })
  visit(value, -1)
  const place = random.below(Math.max(count, 1))
  count = 0
  return visit(value, place)
}

/** mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, of: (list) => list[below(list.length)] as (typeof list)[number] }
}
