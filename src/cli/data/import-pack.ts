// `depot import-pack`: creates a project from a pack.
import { checkedAddress } from '#cli/data/mirror.ts'
import { readArguments, required } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { importPack } from '#features/exchange/pack-import/import-pack.ts'
import { VERSION } from '#platform/config/version.ts'

export async function importPackCommand(args: readonly string[], env: Env): Promise<void> {
  const options = { owner: 'string', 'projects-from': 'string', json: 'boolean' } as const
  const { values, words } = readArguments(args, options, { min: 1, max: 1 })
  const [path = ''] = words
  const owner = required(values.owner, 'owner')
  const from = values['projects-from']
  const projectsFrom = from === undefined ? undefined : checkedAddress(from)
  const warn = (message: string) => void process.stderr.write(`${message}\n`)
  const userAgent = `Depot/${VERSION} (import-pack)`
  const report = await withDeps(env, (deps) => importPack(deps, { path, owner, projectsFrom, userAgent, warn }))
  const { slug, version, files, unknown, copied } = report
  const copies = copied === 0 ? '' : `, and copied ${copied} projects`
  const text = `Created the draft ${slug} with the version ${version}: ${files} files, of which ${unknown} are unknown here${copies}`
  print({ json: report, text }, values.json)
}
