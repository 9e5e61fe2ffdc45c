// Writes the part of the SPDX license list that Depot uses: names, and the texts, each compressed on its own, because a
// request reads one of them. The package of the list has 12 MB in 1,460 files.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import deprecated from 'spdx-license-ids/deprecated.json' with { type: 'json' }
import licenses from 'spdx-license-list'

const FOLDER = join(import.meta.dirname, '../src/taxonomy/generated')

export function writeSpdxLicenses(): void {
  const ids = Object.keys(licenses).sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  const texts = ids.map((id) => brotliCompressSync(textOf(id)))
  let end = 0
  const lines = ids.map((id, i) => {
    const start = end
    end += texts[i]?.length ?? 0
    const { name, osiApproved } = licenses[id] ?? { name: id, osiApproved: false }
    return `${JSON.stringify(id)}:${JSON.stringify({ name, osiApproved, start, end })}`
  })
  const list = `{"deprecated":${JSON.stringify(deprecated)},"licenses":{\n${lines.join(',\n')}\n}}\n`
  writeFileSync(join(FOLDER, 'spdx-licenses.json'), list)
  writeFileSync(join(FOLDER, 'spdx-texts.br'), Buffer.concat(texts))
}

function textOf(id: string): string {
  const file = fileURLToPath(import.meta.resolve(`spdx-license-list/licenses/${id}.json`))
  return JSON.parse(readFileSync(file, 'utf8')).licenseText
}
