// `depot export-catalogue`: writes the public catalogue to a file.
import { readArguments } from '#cli/kit/arguments.ts'
import { shownBytes } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { exportCatalogue } from '#features/exchange/catalogue-export/export-catalogue.ts'

export async function exportCatalogueCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 1, max: 1 })
  const [file = ''] = words
  const report = await withDeps(env, (deps) => exportCatalogue(deps, file))
  const { projects, versions, users, organizations, collections, bytes } = report
  const written = `${projects} projects, ${versions} versions, ${users} users, ${organizations} organizations and ${collections} collections`
  const text = `Wrote ${written} (${shownBytes(bytes)}) to ${file}, and the signature to ${file}.sig`
  print({ json: report, text }, values.json)
}
