// The parts of documents that `npm run gen` makes from the code. A document marks the place of a block with the comments
// `<!-- generated: NAME -->` and `<!-- end -->`.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '#cli/commands.ts'
import { EXIT_CODES } from '#cli/kit/exit-codes.ts'
import { usageOf } from '#cli/usage.ts'
import { describedKinds, PING } from '#features/basics/events/event-kinds.ts'
import { ACCESS_EVENTS, ACCESS_KINDS, type AccessKind } from '#features/people/revocation/access-table.ts'
import { ERRORS } from '#lib/errors.ts'
import { MIB } from '#lib/text/sizes.ts'
// Loads the modules that define caches.
import '#cli/server/run-server.ts'
import { type CacheDefinition, definedCaches } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { VARIABLES } from '#platform/config/env.ts'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { LAYERS } from './layers.ts'
import { areasOf, operationsWithoutPage, pageMap } from './page-map.ts'

const ROOT = join(import.meta.dirname, '..')

/** Every block that does not need the application, by its name. */
export function documentBlocks(): Record<string, string> {
  return {
    layers: table(
      ['layer', 'folder', 'purpose'],
      LAYERS.map(({ name, folder, purpose }) => [name, `\`${folder}/\``, purpose]),
    ),
    folders: LAYERS.filter(({ parts }) => parts !== undefined)
      .map(({ folder, parts = {} }) => {
        const rows = Object.entries(parts).map(([name, purpose]) => [`\`${name}\``, purpose])
        return `\`${folder}/\`\n\n${table(['folder', 'purpose'], rows)}`
      })
      .join('\n\n'),
    decisions: decisionList(),
    errors: errorTable(),
    events: eventTable(),
    metrics: metricTable(),
    caches: cacheTable(),
    access: accessTable(),
    settings: table(
      ['variable', 'meaning', 'default'],
      VARIABLES.map(({ name, description, default: value }) => [
        `\`${name}\``,
        cell(description),
        value === undefined ? '' : `\`${value}\``,
      ]),
    ),
    'exit-codes': table(
      ['code', 'meaning'],
      EXIT_CODES.map(([code, meaning]) => [String(code), meaning]),
    ),
    commands: COMMANDS.map((command) => `### ${command.name}\n\n\`\`\`\n${usageOf(command).trimEnd()}\n\`\`\``).join(
      '\n\n',
    ),
  }
}

/**
 * Returns a document with its blocks replaced.
 * @throws Error if the document names a block that does not exist.
 */
export function withBlocks(document: string, blocks: Readonly<Record<string, string>>): string {
  return document.replaceAll(/<!-- generated: ([\w-]+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const block = blocks[name]
    if (block === undefined) throw new Error(`There is no generated block ${name}`)
    return `<!-- generated: ${name} -->\n\n${block}\n\n<!-- end -->`
  })
}

/** Paths of all documents that contain a block. */
export function documentsWithBlocks(): string[] {
  return globSync('{*.md,docs/**/*.md}', { cwd: ROOT })
    .filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('<!-- generated: '))
    .sort()
}

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

/** The blocks of the routes: one table of pages per area of the web site, and the operations without a page. */
export function routeBlocks(routes: readonly RouteEntry[]): Record<string, string> {
  const tables = [...areasOf(pageMap(routes))].map(([area, pages]) => {
    const rows = pages.map(({ path, who, shows, api }) => [`\`${path}\``, who, shows, codes(api)])
    return `### ${area}\n\n${table(['path', 'for', 'shows', 'operations of the API'], rows)}`
  })
  const exceptions = [...operationsWithoutPage(routes)].map(([reason, ids]) => [reason, codes(ids)])
  return { pages: tables.join('\n\n'), exceptions: table(['reason', 'operations'], exceptions) }
}

/** One line per decision, in the order of their numbers. */
function decisionList(): string {
  const folder = join(ROOT, 'docs/decisions')
  return globSync('*/*.md', { cwd: folder })
    .map((path) => {
      const [, number = '', title = ''] = /^# (\d+) (.+)$/m.exec(readFileSync(join(folder, path), 'utf8')) ?? []
      return `- [${number}](${path}) ${title}`
    })
    .sort()
    .join('\n')
}

/** One row per error code, with the statuses that it comes with. */
function errorTable(): string {
  const statuses = new Map<string, Set<number>>()
  for (const { error, status } of Object.values(ERRORS))
    statuses.set(error, (statuses.get(error) ?? new Set()).add(status))
  const rows = [...statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([error, set]) => [`[\`${error}\`](#${error.toLowerCase()})`, [...set].sort((a, b) => a - b).join(', ')])
  return table(['`error`', 'status'], rows)
}

/** One row per event of webhooks. */
function eventTable(): string {
  const receivers = { all: 'all', members: 'of owners', instance: 'of the instance' }
  const rows = describedKinds().map(({ kind, audience, sentWhen }) => [`\`${kind}\``, sentWhen, receivers[audience]])
  return table(['event', 'sent when', 'webhooks'], [...rows, [`\`${PING}\``, 'A user sends a ping', 'the pinged one']])
}

/** One row per event that ends trust, with the kinds of access by its effect. */
function accessTable(): string {
  const columns = { ends: 'ends', newer: 'ends if newer', pauses: 'pauses', limited: 'is limited', stays: 'stays' }
  const rows = Object.values(ACCESS_EVENTS).map(({ label, effects }) => {
    const kindsWith = (effect: string) =>
      Object.entries(effects)
        .filter(([, has]) => has === effect)
        .map(([kind]) => ACCESS_KINDS[kind as AccessKind].label)
    return [label, ...Object.keys(columns).map((effect) => kindsWith(effect).join('; '))]
  })
  return table(['event', ...Object.values(columns)], rows)
}

/** One row per cache: entities, derived values and computed values. */
function cacheTable(): string {
  const kindOf = (definition: object) =>
    'idOf' in definition ? 'entity' : 'maxBytes' in definition ? 'computed' : 'derived'
  const ageOf = (ms?: number) => (ms === undefined ? '' : ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`)
  const rows = definedCaches().map((definition) => {
    const { name, contains, maxAgeMs, maxBytes }: CacheDefinition & Partial<RememberDefinition<never>> = definition
    const size = maxBytes === undefined ? '' : `${maxBytes / MIB} MiB`
    return [`\`${name}\``, kindOf(definition), contains, ageOf(maxAgeMs), size]
  })
  return table(
    ['cache', 'kind', 'contains', 'maximum age', 'maximum size'],
    rows.sort((a, b) => (a < b ? -1 : 1)),
  )
}

/** One row per metric, read from the source, so that metrics of adapters that are not in use are listed too. */
function metricTable(): string {
  const rows = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => {
      const source = readFileSync(join(ROOT, path), 'utf8')
      const pattern = /name: '(depot_\w+)',\s*help:\s*(?:'([^']+)'|"([^"]+)"),([\s\S]*?)(?=name: 'depot_|$)/g
      return [...source.matchAll(pattern)].map(([, name = '', single, double, rest = '']) => {
        const labels = /labelNames: \[([^\]]*)\]/.exec(rest)?.[1] ?? ''
        return [`\`${name}\``, labels.replaceAll("'", '`'), cell(single ?? double ?? '')]
      })
    })
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return table(['metric', 'labels', 'meaning'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Text in which a vertical bar does not end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
