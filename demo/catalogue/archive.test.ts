import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBuffer, type ZipFile } from 'yauzl'
import { demoArchive } from '#demo/catalogue/archive.ts'
import { demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { LOADER_FILES } from '#demo/catalogue/words.ts'
import { loadTaxonomy } from '#platform/taxonomy/taxonomy.ts'

const { taxonomy } = loadTaxonomy()
const options = { taxonomy, projects: 250, seed: 3, until: new Date('2025-09-01T00:00:00Z') }
const projects = [...demoCatalogue(options).projects]

function readZip(bytes: Buffer): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  return new Promise((resolve, reject) => {
    const read = (error: Error | null, zip: ZipFile) => {
      if (error) return reject(error)
      zip.on('error', reject)
      zip.on('end', () => resolve(files))
      zip.on('entry', (entry) => {
        zip.openReadStream(entry, async (problem, stream) => {
          if (problem) return reject(problem)
          files.set(entry.fileName, Buffer.concat(await stream.toArray()).toString())
          zip.readEntry()
        })
      })
      zip.readEntry()
    }
    fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true, strictFileNames: true }, read)
  })
}

test('every archive can be read, and holds the files of each of its loaders', async () => {
  const checked = new Set<string>()
  for (const project of projects) {
    const version = project.versions.at(-1)
    assert.ok(version)
    const files = await readZip(demoArchive(project, version))
    for (const loader of version.loaders) {
      for (const name of LOADER_FILES[loader] ?? []) assert.ok(files.has(name), `${project.slug}: ${name}`)
      checked.add(loader)
    }
    for (const [name, text] of files) if (/\.(json|mcmeta|info)$/.test(name)) JSON.parse(text)
  }
  assert.ok(checked.size > 10)
})

test('the bytes are the same on every call, and different for each version of each project', () => {
  const seen = new Set<string>()
  for (const project of projects.slice(0, 100)) {
    for (const version of project.versions) {
      const bytes = demoArchive(project, version)
      assert.ok(bytes.equals(demoArchive(project, version)))
      assert.ok(bytes.length < 8192)
      seen.add(bytes.toString('latin1'))
    }
  }
  assert.equal(
    seen.size,
    projects.slice(0, 100).reduce((sum, project) => sum + project.versions.length, 0),
  )
})
