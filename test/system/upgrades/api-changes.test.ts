// The comparison of the API descriptions with those of the last release. Continuous integration installs oasdiff.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listRecordings } from '#test/upgrades/recording.ts'

const ROOT = join(import.meta.dirname, '../../..')
const hasProgram = spawnSync(process.env['OASDIFF'] ?? 'oasdiff', ['--version']).error === undefined

const compare = (folder: string) => {
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/api-changes.ts'), folder], {
    encoding: 'utf8',
  })
  return { status, stdout }
}

test('a removed operation fails, except with a new major version', {
  skip: !hasProgram && 'oasdiff is missing',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-descriptions-'))
  try {
    cpSync(join(ROOT, 'docs/generated/openapi-v2.json'), join(folder, 'openapi-v2.json'))
    const description = JSON.parse(readFileSync(join(ROOT, 'docs/generated/openapi.json'), 'utf8'))
    const release = listRecordings().at(-1) ?? ''
    const write = (version: string) => {
      description.info.version = version
      writeFileSync(join(folder, 'openapi.json'), JSON.stringify(description))
    }
    write(release)
    assert.equal(compare(folder).status, 0)
    delete description.paths['/v3/project/{id}'].get
    write(`${release.split('.')[0]}.999.0`)
    const failed = compare(folder)
    assert.equal(failed.status, 1)
    assert.match(failed.stdout, /GET \/v3\/project\/\{id\}: [^\n]+\n/)
    write('99.0.0')
    assert.equal(compare(folder).status, 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
