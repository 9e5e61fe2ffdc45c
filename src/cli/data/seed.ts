// `depot seed`: a believable demo catalogue for looking at.

import { readArguments, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { type RemovalReport, removeCatalogue } from '#demo/remove/remove-catalogue.ts'
import { type SeedReport, seedCatalogue } from '#demo/seed/seed-catalogue.ts'

const DEFAULT_PROJECTS = '200'
const PROJECTS_MAX = 1_000_000

type Values = { projects?: string; yes?: boolean; json?: boolean }

export async function seedCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { projects: 'string', remove: 'boolean', yes: 'boolean', json: 'boolean' })
  if (values.remove === true) return remove(values, env)
  const projects = wholeNumber(values.projects ?? DEFAULT_PROJECTS, 'projects', 0, PROJECTS_MAX)
  await withDeps(env, async (deps) => {
    const report = await withProgress({ label: 'Writing demo projects' }, (update) =>
      seedCatalogue(deps, projects, (done) => update(done, projects)),
    )
    print({ json: report, text: [describe(report), ...describeSignIns(report)].join('\n') }, values.json)
  })
}

async function remove({ projects, yes, json }: Values, env: Env): Promise<void> {
  if (projects !== undefined) throw new UsageError('--remove takes the whole demo away, without --projects')
  if (yes !== true) {
    throw new UsageError('The demo goes with everything its accounts have made since; it cannot be undone: say --yes')
  }
  await withDeps(env, async (deps) => {
    const report = await withProgress({ label: 'Removing the demo' }, (update) => removeCatalogue(deps, update))
    print({ json: report, text: describeRemoval(report) }, json)
  })
}

function describeRemoval({ projects, organizations, collections, people, kept, events }: RemovalReport): string {
  const stays = [...kept.projects, ...kept.organizations]
  return [
    `Removed ${count(projects, 'project')}, ${people} people, ${count(organizations, 'organization')}, ` +
      `${count(collections, 'collection')}; their files are removed by the next jobs of a server`,
    ...(stays.length === 0 ? [] : [`Other people take part in these, which stay: ${stays.join(', ')}`]),
    ...(events.isLeft ? ['The running server holds the store of events; it removes those of the demo by itself'] : []),
  ].join('\n')
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

function describe({ projects, versions, people, organizations, collections, events }: SeedReport): string {
  const found = `${count(projects.present, 'demo project')} were there already`
  const made = [
    count(projects.added, 'project'),
    count(versions, 'version'),
    `${people.added} people`,
    count(organizations.added, 'organization'),
    count(collections.added, 'collection'),
    count(events.added, 'event'),
  ].join(', ')
  const left = events.isLeft
    ? '\nThe running server holds the store of events; it adds those of the demo by itself'
    : ''
  return `Added ${made}; ${found}${left}`
}

function describeSignIns({ signIns }: SeedReport): string[] {
  if (signIns.length === 0) return []
  const lines = signIns.map(({ username, password, role }) => `  ${role.padEnd(9)}  ${username}  ${password}`)
  return ['Sign in as one of these; the passwords are shown this once:', ...lines]
}
