// `depot seed`: creates or removes a demo catalogue.
import { readArguments, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print, withDeps, withNewDeps } from '#cli/kit/with-deps.ts'
import { PROJECTS_MAX } from '#demo/catalogue/catalogue.ts'
import { type RemovalReport, removeCatalogue } from '#demo/remove/remove-catalogue.ts'
import { type SeedReport, seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'

const DEFAULT_PROJECTS = '200'

type Values = { projects?: string; yes?: boolean; json?: boolean }

export async function seedCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { projects: 'string', remove: 'boolean', yes: 'boolean', json: 'boolean' })
  if (values.remove === true) return remove(values, env)
  const projects = wholeNumber(values.projects ?? DEFAULT_PROJECTS, 'projects', 0, PROJECTS_MAX)
  await withNewDeps(env, async (deps) => {
    // The texts of the demo contain URLs of images.
    await updateFileUrls(deps)
    const report = await withProgress({ label: 'Writing demo projects' }, (update) =>
      seedCatalogue(deps, projects, (done) => update(done, projects)),
    )
    print({ json: report, text: [describe(report), ...describeSignIns(report)].join('\n') }, values.json)
  })
}

async function remove({ projects, yes, json }: Values, env: Env): Promise<void> {
  if (projects !== undefined) throw new UsageError('--remove removes the whole demo; do not combine it with --projects')
  if (yes !== true) {
    throw new UsageError(
      'Removing the demo also removes everything that its accounts have created, and cannot be undone. To confirm, add --yes',
    )
  }
  await withDeps(env, async (deps) => {
    const report = await withProgress({ label: 'Removing the demo' }, (update) => removeCatalogue(deps, update))
    print({ json: report, text: describeRemoval(report) }, json)
  })
}

function describeRemoval({ projects, organizations, collections, people, kept, events }: RemovalReport): string {
  const remaining = [...kept.projects, ...kept.organizations]
  return [
    `Removed ${count(projects, 'project')}, ${count(people, 'account')}, ${count(organizations, 'organization')} and ` +
      `${count(collections, 'collection')}. The server deletes their files in the background.`,
    ...(remaining.length === 0 ? [] : [`Kept, because other users are members: ${remaining.join(', ')}`]),
    ...(events.isLeft ? ['The running server deletes their events.'] : []),
  ].join('\n')
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

function describe({ projects, versions, people, organizations, collections, events }: SeedReport): string {
  const added = [
    count(projects.added, 'project'),
    count(versions, 'version'),
    count(people.added, 'account'),
    count(organizations.added, 'organization'),
    count(collections.added, 'collection'),
    count(events.added, 'event'),
  ].join(', ')
  const rest = events.isLeft ? '\nThe running server adds the events of the demo.' : ''
  return `Added ${added}; ${count(projects.present, 'demo project')} already existed${rest}`
}

function describeSignIns({ signIns }: SeedReport): string[] {
  if (signIns.length === 0) return []
  const lines = signIns.map(({ username, password, role }) => `  ${role.padEnd(9)}  ${username}  ${password}`)
  return ['Sign in with one of these accounts. The passwords are not shown again.', ...lines]
}
