// The licence of every production package allows use and redistribution.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')

/** Ask for no more than that their text stays with the code. */
const FREE = [
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
  'PSF-2.0',
  'CC-BY-3.0',
  'PostgreSQL',
]
/** Libraries that stay separate files, so that users can replace them, as the LGPL requires. */
const REPLACEABLE = /^@img\/sharp(-libvips)?-/

type Entry = { dev?: boolean; license?: string; integrity?: string; link?: boolean; optional?: boolean; os?: string[] }

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> }
const production = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true)

/** Whether one of the choices of an SPDX expression is free as a whole. */
function isFree(expression: string): boolean {
  const choices = expression.replace(/[()]/g, '').split(' OR ')
  return choices.some((choice) => choice.split(' AND ').every((part) => FREE.includes(part.trim())))
}

/** Entries for other platforms are made from names: docs/decisions/tooling/0003-lock-file.md. The one of this platform is read. */
const isMadeFromName = ({ optional, os }: Entry): boolean => optional === true && os !== undefined
const licenceIsUnknown = (path: string, entry: Entry): boolean =>
  isMadeFromName(entry) && entry.license === undefined && !existsSync(join(ROOT, path))

test('every package of production has a licence of the list', () => {
  assert.ok(production.length > 100)
  const others = production.flatMap(([path, entry]) => {
    const file = join(ROOT, path, 'package.json')
    // Packages of other platforms are not installed; for them the lock file says it.
    const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    if (licenceIsUnknown(path, entry)) return []
    const licence: unknown = manifest.license?.type ?? manifest.license ?? entry.license
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (typeof licence === 'string' && isFree(licence)) return []
    if (REPLACEABLE.test(name) && /LGPL-3\.0/.test(String(licence))) return []
    return [`${name}: ${licence}`]
  })
  assert.deepEqual(others, [])
})

test('every package of the lock file but those for other platforms has the hash of its content, and none an address', () => {
  const isRegistry = (path: string, { link }: Entry): boolean => /(^|\/)node_modules\//.test(path) && link !== true
  const entries = Object.entries(lock.packages).filter(([path, entry]) => isRegistry(path, entry))
  const without = entries.filter(([, entry]) => !isMadeFromName(entry) && !/^sha512-/.test(entry.integrity ?? ''))
  assert.deepEqual(
    without.map(([path]) => path),
    [],
  )
  assert.doesNotMatch(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), /"resolved": "(?!packages\/)/)
})
