// Writes the licences of all packages of an installation into one file: name, version, licence, and the texts of the package.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { licenseText } from '#taxonomy/licenses.ts'

const TEXTS = '{LICENSE,LICENCE,License,license,COPYING,NOTICE}*'

/** @param installed folders that contain packages below `node_modules`. */
export async function writeLicences(installed: readonly string[], file: string): Promise<void> {
  const manifests = installed.flatMap((root) =>
    globSync(['**/node_modules/{*,@*/*}/package.json'], { cwd: root }).map((path) => join(root, path)),
  )
  const parts = new Map<string, string>()
  for (const path of manifests) {
    const { name, version, license, author } = JSON.parse(readFileSync(path, 'utf8'))
    if (name === undefined || version === undefined || name === 'depot-hosting') continue
    const folder = dirname(path)
    const texts = globSync(TEXTS, { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
      .sort()
    const body = texts.length > 0 ? texts : [await textOf(license, author)]
    parts.set(`${name} ${version}`, `${name} ${version}: ${license?.type ?? license}\n\n${body.join('\n\n')}`)
  }
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
  const title = 'Licences of the packages that Depot includes on Linux. Depot itself: see LICENSE.'
  writeFileSync(file, `${[title, ...sorted].join(`\n\n${'='.repeat(80)}\n\n`)}\n`)
}

/** Many packages name a licence of the list and do not repeat its text. */
async function textOf(license: string, author: unknown): Promise<string> {
  const holder = typeof author === 'string' ? author : ((author as { name?: string } | undefined)?.name ?? 'not named')
  const ids = license.match(/[\w.-]+/g)?.filter((word) => !/^(AND|OR|WITH)$/.test(word)) ?? []
  const texts = await Promise.all(ids.map((id) => licenseText(id)))
  const title = `The package does not contain the text of its licence, which is below. Author: ${holder}`
  return [title, ...texts.map(({ body }) => body.trim())].join('\n\n')
}
