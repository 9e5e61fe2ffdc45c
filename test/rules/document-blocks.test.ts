// Every block of code in the documents runs in a test or is marked as an example.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, isTested, TESTED_CHAPTERS } from '#test/support/processes/tested-chapters.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('every block of the documents is in a tested chapter or marked as an example', () => {
  const documents = globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/generated/**'] })
  const problems = documents.flatMap((document) =>
    blocksOf(read(document))
      .filter(
        ({ info, chapter }) => !/ example$/.test(info) && !(/^(sh|text)$/.test(info) && isTested(document, chapter)),
      )
      .map(
        ({ line, info }) => `${document}:${line}: run the block in a test, or write \`\`\`${info || 'text'} example`,
      ),
  )
  assert.deepEqual(problems, [])
})

test('every tested chapter has blocks, and a test runs them', () => {
  const tests = globSync('test/**/*.ts', { cwd: ROOT, exclude: ['test/rules/**', 'test/support/**'] }).map(read)
  const readers = tests.filter((text) => /\bread(Steps|Blocks)\(/.test(text))
  for (const [document, chapters] of Object.entries(TESTED_CHAPTERS)) {
    const blocks = blocksOf(read(document)).filter(({ info }) => info === 'sh')
    for (const chapter of chapters === 'all' ? [undefined] : chapters) {
      assert.ok(
        blocks.some((block) => chapter === undefined || block.chapter === chapter),
        `${document} has no block in the chapter ${chapter}`,
      )
      assert.ok(
        readers.some((text) => text.includes(`'${document}'`)) &&
          (chapter === undefined || tests.some((text) => text.includes(`'${chapter}'`))),
        `no test runs ${document}, ${chapter ?? 'all chapters'}`,
      )
    }
  }
})
