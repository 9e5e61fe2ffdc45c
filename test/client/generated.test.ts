// The types of the client are those of the API.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertSameText } from '#test/support/http/compare-text.ts'
import { generateClient, generateDeclarations } from '../../packages/client/generate.mjs'

const ROOT = join(import.meta.dirname, '../..')
const COMMITTED = join(ROOT, 'packages/client/src/generated')

test('the committed types are those of docs/generated/openapi.json; `npm run gen` generates them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-client-types-'))
  try {
    await generateClient(join(ROOT, 'docs/generated/openapi.json'), folder)
    for (const file of readdirSync(folder)) {
      assertSameText(readFileSync(join(folder, file), 'utf8'), readFileSync(join(COMMITTED, file), 'utf8'))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the committed declarations are those of the sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-client-declarations-'))
  const committed = join(ROOT, 'packages/client/generated')
  const list = (cwd: string): string[] => globSync('**/*.d.ts', { cwd }).sort()
  try {
    generateDeclarations(folder)
    assert.deepEqual(list(committed), list(folder))
    for (const file of list(folder))
      assertSameText(readFileSync(join(folder, file), 'utf8'), readFileSync(join(committed, file), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
