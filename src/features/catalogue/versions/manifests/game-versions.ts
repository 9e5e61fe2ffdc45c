// Expands the game versions that a manifest declares to released versions. A range without an end ends at the latest
// release of today; versions that are not released are never proposed.

import { compare } from '#lib/compare.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { DeclaredGameVersions } from './manifest.ts'

/** Numbers of a release: 1.20.4 is [1, 20, 4]. Missing numbers are 0. */
type Release = { value: string; numbers: readonly number[] }

const RELEASE = /^\d{1,4}(\.\d{1,4}){1,3}$/

function numbersOf(text: string): number[] {
  return text.split('.').map(Number)
}

function order(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns the releases of the game that exist at `now`, oldest first. */
function releasesAt(taxonomy: Taxonomy, now: number): Release[] {
  const known = taxonomy.fields.get('game_versions')?.enumValues?.values() ?? []
  return [...known]
    .filter(({ value, created, metadata }) => {
      return metadata?.['type'] === 'release' && RELEASE.test(value) && Date.parse(created) <= now
    })
    .map(({ value }) => ({ value, numbers: numbersOf(value) }))
    .toSorted((a, b) => order(a.numbers, b.numbers) || compare(a.value, b.value))
}

type Test = (numbers: readonly number[]) => boolean

export type Expansion = {
  /** Oldest first. */
  values: string[]
  /** Whether a range has no end, so that the versions after the first ones are a guess. */
  isOpen: boolean
}

/** Returns the released versions that the declaration contains. */
export function expandGameVersions(
  { form, ranges }: DeclaredGameVersions,
  { taxonomy, now }: { taxonomy: Taxonomy; now: number },
): Expansion {
  const releases = releasesAt(taxonomy, now)
  if (form === 'listed') return { values: ranges.filter((value) => isReleased(taxonomy, value, now)), isOpen: false }
  const isPreview = (value: string) => !RELEASE.test(value) && isReleased(taxonomy, value, now)
  const texts = ranges.flatMap((range) => (form === 'predicates' ? range.split('||') : range))
  const previews = form === 'minimum' ? [] : texts.flatMap((text) => previewIn(text, isPreview) ?? [])
  const spans = texts.filter((text) => form === 'minimum' || previewIn(text, isPreview) === undefined)
  const parsed = spans.flatMap((range) => {
    if (form === 'maven') return parseMaven(range)
    return form === 'minimum' ? parsePredicates(`>=${range}`) : parsePredicates(range)
  })
  const values = releases.filter(({ numbers }) => parsed.some(({ test }) => test(numbers))).map(({ value }) => value)
  return { values: [...values, ...previews], isOpen: parsed.some(({ isOpen }) => isOpen) }
}

/**
 * Returns the snapshot or preview that a text names exactly: `24w14a`, `=24w14a`, `[24w14a]`, or as Fabric writes it:
 * `1.20.5-alpha.24.14.a`, `1.20.5-rc.1`.
 */
function previewIn(text: string, isPreview: (value: string) => boolean): string | undefined {
  const name = text
    .trim()
    .replace(/^(?:=\s*|\[(?=[^,]*\]$))/, '')
    .replace(/\]$/, '')
  const [, year, week, letter] = /-alpha\.(\d{2})\.(\d{1,2})\.([a-z])$/.exec(name) ?? []
  const names = [
    name,
    name.replace(/-(pre|rc|beta|alpha)\.(?=\d{1,3}$)/, '-$1'),
    `${year}w${String(week).padStart(2, '0')}${letter}`,
  ]
  return names.find(isPreview)
}

function isReleased(taxonomy: Taxonomy, value: string, now: number): boolean {
  const known = taxonomy.fields.get('game_versions')?.enumValues?.get(value)
  return known !== undefined && Date.parse(known.created) <= now
}

type Range = { test: Test; isOpen: boolean }

/** Returns the numbers of a version without its suffix: `1.21-` and `1.21-rc.1` are 1.21. Undefined for other texts. */
function parseVersion(text: string): number[] | undefined {
  const [plain = ''] = text.split(/[-+]/, 1)
  return RELEASE.test(plain) || /^\d{1,4}$/.test(plain) ? numbersOf(plain) : undefined
}

/** Parses `>=1.20 <1.21`, `~1.20.1`, `^1.20`, `1.20.x`, `1.20` and `*`; alternatives can be separated by `||`. */
function parsePredicates(text: string): Range[] {
  return text.split('||').flatMap((alternative) => {
    const parts = alternative
      .replace(/([<>=~^])\s+/g, '$1')
      .split(/[\s,]+/)
      .filter((part) => part !== '')
    const tests = parts.map(parsePredicate)
    if (tests.length === 0 || tests.includes(undefined)) return []
    const all = tests.filter((range) => range !== undefined)
    return [{ test: (numbers) => all.every(({ test }) => test(numbers)), isOpen: all.every(({ isOpen }) => isOpen) }]
  })
}

function parsePredicate(part: string): Range | undefined {
  if (part === '*') return { test: () => true, isOpen: true }
  const [, operator = '', rest = ''] = /^(>=|<=|>|<|=|~|\^)?(.*)$/.exec(part) ?? []
  const wildcard = /^(\d{1,4}(?:\.\d{1,4})*)\.[xX*]$/.exec(rest)?.[1]
  const version = parseVersion(wildcard ?? rest)
  if (version === undefined) return undefined
  if (wildcard !== undefined && (operator === '' || operator === '=')) return sharing(version, version.length)
  switch (operator) {
    case '>=':
      return { test: (numbers) => order(numbers, version) >= 0, isOpen: true }
    case '>':
      return { test: (numbers) => order(numbers, version) > 0, isOpen: true }
    case '<':
      return { test: (numbers) => order(numbers, version) < 0, isOpen: false }
    case '<=':
      return { test: (numbers) => order(numbers, version) <= 0, isOpen: false }
    case '~':
      return sharing(version, 2)
    case '^':
      return sharing(version, 1)
    default:
      return { test: (numbers) => order(numbers, version) === 0, isOpen: false }
  }
}

/** Versions from `version` on with the same first numbers. */
function sharing(version: readonly number[], count: number): Range {
  const first = version.slice(0, count)
  return {
    test: (numbers) => order(numbers, version) >= 0 && order(numbers.slice(0, count), first) === 0,
    isOpen: false,
  }
}

/** Parses `[1.20,1.21)`, `[1.20.1]`, `[1.20,)`, `(,1.21)`, several of them, and a single version. */
function parseMaven(text: string): Range[] {
  if (!/[[(]/.test(text)) {
    const version = parseVersion(text.trim())
    return version === undefined ? [] : [{ test: (numbers) => order(numbers, version) === 0, isOpen: false }]
  }
  return [...text.matchAll(/([[(])([^[\]()]*)([\])])/g)].flatMap(([, open, inner = '', close]) => {
    const bounds = inner.split(',').map((bound) => bound.trim())
    const [from = '', until = from] = bounds
    const lowest = parseVersion(from)
    const highest = parseVersion(until)
    if ((from !== '' && lowest === undefined) || (until !== '' && highest === undefined) || bounds.length > 2) return []
    const test: Test = (numbers) => {
      const low = lowest === undefined ? 1 : order(numbers, lowest)
      const high = highest === undefined ? -1 : order(numbers, highest)
      return (open === '[' ? low >= 0 : low > 0) && (close === ']' ? high <= 0 : high < 0)
    }
    return [{ test, isOpen: highest === undefined }]
  })
}
