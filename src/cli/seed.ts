// `depot seed`: a believable demo catalogue for looking at.
import { type SeedReport, seedCatalogue } from '#features/seed/seed-catalogue.ts'
import { readArguments, wholeNumber } from './arguments.ts'
import { createProgress } from './progress.ts'
import { type Env, print, withDeps } from './with-deps.ts'

const DEFAULT_PROJECTS = '200'
const PROJECTS_MAX = 1_000_000

export async function seedCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { projects: 'string', json: 'boolean' })
  const projects = wholeNumber(values.projects ?? DEFAULT_PROJECTS, 'projects', 0, PROJECTS_MAX)
  await withDeps(env, async (deps) => {
    const progress = createProgress({ label: 'Writing demo projects' })
    const report = await seedCatalogue(deps, projects, (done) => progress.update(done, projects)).finally(progress.end)
    print({ json: report, text: [describe(report), ...describeSignIns(report)].join('\n') }, values.json)
  })
}

function describe({ projects, versions, people, organizations, collections, events }: SeedReport): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
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
