// `depot export-project` and `depot import-project`: one project as a folder.
import { readArguments, required } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { exportProject } from '#features/exchange/project-folder/export-project.ts'
import { importProject } from '#features/exchange/project-folder/import-project.ts'

export async function exportProjectCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 2, max: 2 })
  const [name = '', folder = ''] = words
  const report = await withDeps(env, (deps) => exportProject(deps, { name, folder }))
  const { versions, files, images } = report
  print(
    { json: report, text: `Wrote ${versions} versions, ${files} files and ${images} images to ${folder}` },
    values.json,
  )
}

export async function importProjectCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { owner: 'string', json: 'boolean' }, { min: 1, max: 1 })
  const [folder = ''] = words
  const owner = required(values.owner, 'owner')
  const warn = (message: string) => void process.stderr.write(`${message}\n`)
  const report = await withDeps(env, (deps) => importProject(deps, { folder, owner, warn }))
  const { slug, versions, files, images } = report
  const text = `Created the project ${slug} with ${versions} versions, ${files} files and ${images} images`
  print({ json: report, text }, values.json)
}
