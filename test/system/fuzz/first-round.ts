// The first requests with repeated characters: each kind of place with each class of characters, before places are chosen at
// random. A parameter, header or field that many routes read in the same way is one place.
import {
  type Case,
  type Change,
  encode,
  FILTER_NAMES,
  FILTER_STARTS,
  FORM_FIELDS,
  freeNames,
  HEAD_BYTES,
  HEADERS,
  inFields,
  inFileForm,
  inHeaderNamed,
  inQuery,
  isPage,
  isRead,
  LINK_KEYS,
  LIST_HEADERS,
  PAGE_KEYS,
  repeat,
  type Target,
  type Text,
} from './repeat-places.ts'

/** Classes of characters that expressions treat in different ways, frequent ones first. */
const UNITS = ['\t', '/', '0', ' ', 'a', ',', ';', '\n', '%20']
/** Beginnings of headers with a grammar. */
const HEADER_STARTS: Readonly<Record<string, readonly string[]>> = {
  accept: ['text/html', 'text/html;q='],
  'accept-encoding': ['gzip', 'gzip;q='],
  'accept-language': ['de', 'de;q='],
  authorization: ['Bearer '],
  cookie: ['a='],
  'if-none-match': ['W/"', '"a"'],
  'if-match': ['"a"'],
  range: ['bytes='],
}

/** Number of names that share the size limit of a request. */
const GROUP = 10

type Place = { target: Target; start: string; change: Change }

/** The end matches no expression that matches the repeated characters. */
export function* firstRound(targets: readonly Target[]): Generator<Case> {
  const places = placesOf(targets)
  for (const unit of UNITS) {
    const end = unit === 'a' ? '!\n' : 'x\n'
    for (const { target, start, change } of places)
      yield { target, change, text: { start, unit, end, fewer: 0 }, seed: 0 }
  }
}

function placesOf(targets: readonly Target[]): Place[] {
  const list = targets.find((target) => isPage(target) && target.route.url === '/mods')
  const data = targets.find(({ route }) => route.url === '/v3/tag/category')
  if (list === undefined || data === undefined) throw new Error('A route of the first round is missing')
  return [
    ...[HEAD_BYTES, 1_900].map((bytes) => {
      return place(list, ({ sample, text }) => ({ ...sample, url: `/none${longPath(text, bytes)}` }))
    }),
    ...[list, data].flatMap(headersOf),
    ...LINK_KEYS.map((name) => [name])
      .concat(groupsOf(PAGE_KEYS))
      .map((names) => place(list, (work) => inQuery(work, names, work.text))),
    ...parametersOf(targets),
    ...formsOf(targets),
  ]
}

const place = (target: Target, change: Change, start = ''): Place => ({ target, start, change })

function headersOf(target: Target): Place[] {
  return [...LIST_HEADERS, ...HEADERS].flatMap((name) =>
    (HEADER_STARTS[name] ?? ['']).map((start) => place(target, (work) => inHeaderNamed(work, name), start)),
  )
}

function parametersOf(targets: readonly Target[]): Place[] {
  const inUrl = byName(targets.filter(isRead), ({ route }) =>
    route.url.split('/').filter((part) => part.startsWith(':')),
  )
  const inQueries = byName([...targets.filter(isRead), ...targets], freeNames)
  return [
    ...[...inUrl].map(([name, target]) => {
      return place(target, ({ route, sample, text }) => {
        const parts = String(sample.url).split('/')
        return { ...sample, url: parts.with(route.url.split('/').indexOf(name), longPath(text, 1_900)).join('/') }
      })
    }),
    ...[...inQueries].flatMap(([name, target]) =>
      ['', ...(FILTER_NAMES.test(name) ? FILTER_STARTS : [])].map((start) =>
        place(target, (work) => inQuery(work, [name], work.text), start),
      ),
    ),
  ]
}

/** Returns the first target with each name. */
function byName(targets: readonly Target[], namesOf: (target: Target) => readonly string[]): Map<string, Target> {
  return new Map(targets.flatMap((target) => namesOf(target).map((name) => [name, target] as const)).toReversed())
}

/** Fields of pages, a few at a time, and the parts of an upload. */
function formsOf(targets: readonly Target[]): Place[] {
  const pages = targets.filter((target) => isPage(target) && !isRead(target))
  const uploads = targets.filter(({ route }) => route.method === 'POST' && route.url === '/v3/version')
  return [
    ...groupsOf(FORM_FIELDS).flatMap((names, i) => {
      return pages
        .slice(i % pages.length, (i % pages.length) + 1)
        .map((page) => place(page, (work) => inFields(work, names, HEAD_BYTES)))
    }),
    ...uploads.flatMap((upload) =>
      [0, 1, 2].map((part) => place(upload, ({ sample, text }) => inFileForm(sample, repeat(text, HEAD_BYTES), part))),
    ),
  ]
}

function groupsOf(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / GROUP) }, (_, i) => names.slice(i * GROUP, (i + 1) * GROUP))
}

/** A slash ends a part of the path, so it stays as it is. */
function longPath(text: Text, bytes: number): string {
  return encode(text, bytes).replaceAll('+', '%20').replaceAll('%2F', '/')
}
