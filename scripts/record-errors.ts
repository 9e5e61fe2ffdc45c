// `npm run record-errors -- FILES`: runs these tests (all without FILES) and adds the errors that they see to
// src/platform/http/openapi/seen-errors.json, from which the description takes what each operation may answer. `npm run gen` then
// makes the descriptions. What stands there already stays, so that a run changes no more than it must. With `--from FILE`
// nothing runs: the lines were written before, by tests with RECORD_ERRORS=FILE.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  REQUEST_ID,
  readSeenErrors,
  SEEN_ERRORS_FILE,
  type SeenErrors,
} from '#platform/http/openapi/declared-errors.ts'
import type { SeenAnswer } from '#test/support/app/declared-errors-check.ts'

function record(files: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'depot-errors-'))
  const lines = join(folder, 'seen.jsonl')
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'test.mjs'), ...files], {
    stdio: 'inherit',
    env: { ...process.env, RECORD_ERRORS: lines },
  })
  if (existsSync(lines)) merge(lines)
  rmSync(folder, { recursive: true })
  process.exitCode = status ?? 1
}

function merge(lines: string): void {
  const seen = readSeenErrors()
  const found = readFileSync(lines, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SeenAnswer)
  // Of several answers with the same word one that names a field says most, and the shortest is read best.
  const weight = ({ body }: SeenAnswer): number =>
    (body?.description.length ?? 0) + (body?.details === undefined ? 1000 : 0)
  let added = 0
  for (const { operationId, key, body } of found.sort((a, b) => weight(a) - weight(b) || order(a, b))) {
    const own = seen[operationId] ?? {}
    if (own[key] !== undefined) continue
    seen[operationId] = { ...own, [key]: steady(body) }
    added += 1
  }
  writeFileSync(SEEN_ERRORS_FILE, show(seen))
  console.log(`${added} of ${found.length} added`)
}

function order(a: SeenAnswer, b: SeenAnswer): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/** Every request has an ID of its own; the example's is always the same. */
function steady(body: SeenAnswer['body']): SeenAnswer['body'] {
  if (body === null) return null
  const description = body.description.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, REQUEST_ID)
  return { ...body, description }
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

/** One line an error, which versions of the file can be merged by. */
function show(seen: SeenErrors): string {
  const operations = Object.entries(seen)
    .sort(byName)
    .map(([operationId, errors]) => {
      const lines = Object.entries(errors)
        .sort(byName)
        .map(([key, body]) => `    ${JSON.stringify(key)}: ${JSON.stringify(body)}`)
      return `  ${JSON.stringify(operationId)}: {\n${lines.join(',\n')}\n  }`
    })
  return `{\n${operations.join(',\n')}\n}\n`
}

const [first, file, ...others] = process.argv.slice(2)
if (first === '--from' && file !== undefined && others.length === 0) merge(file)
else record(process.argv.slice(2))
