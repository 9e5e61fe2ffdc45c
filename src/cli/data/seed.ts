// `depot seed`: creates or removes a demo catalogue.
import { readArguments, UsageError, wholeNumber } from '#cli/kit/arguments.ts'
import { withProgress } from '#cli/kit/progress.ts'
import { type Env, print, withDeps, withNewDeps } from '#cli/kit/with-deps.ts'
import { PROJECTS_MAX } from '#demo/catalogue/catalogue.ts'
import { type RemovalReport, removeCatalogue } from '#demo/remove/remove-catalogue.ts'
import { type SeedReport, seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'

const DEFAULT_PROJECTS = '200'

type Values = { projects?: string; yes?: boolean; 'dry-run'?: boolean; json?: boolean }

export async function seedCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, {
    projects: 'string',
    remove: 'boolean',
    yes: 'boolean',
    'dry-run': 'boolean',
    json: 'boolean',
  })
  if (values.remove === true) return remove(values, env)
  if (values['dry-run'] === true) throw new UsageError('--dry-run needs --remove')
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

async function remove({ projects, yes, 'dry-run': isDryRun = false, json }: Values, env: Env): Promise<void> {
  if (projects !== undefined) throw new UsageError('--remove removes the whole demo; do not combine it with --projects')
  if (yes !== true && !isDryRun) {
    throw new UsageError(
      'Removing the demo also removes everything that its accounts have created, and cannot be undone. To confirm, add --yes. To see what would be removed, use --dry-run',
    )
  }
  await withDeps(env, async (deps) => {
    const report = await withProgress({ label: isDryRun ? 'Counting the demo' : 'Removing the demo' }, (onProgress) =>
      removeCatalogue(deps, { isDryRun, onProgress }),
    )
    print({ json: { dry_run: isDryRun, ...report }, text: describeRemoval(report, isDryRun) }, json)
  })
}

function describeRemoval(report: RemovalReport, isDryRun: boolean): string {
  const { projects, organizations, collections, people, kept, events } = report
  const remaining = [...kept.projects, ...kept.organizations]
  return [
    `${isDryRun ? 'Would remove' : 'Removed'} ${count(projects, 'project')}, ${count(people, 'account')}, ${count(organizations, 'organization')} and ` +
      `${count(collections, 'collection')}${isDryRun ? '' : '. The server deletes their files in the background'}.`,
    ...(remaining.length === 0
      ? []
      : [`${isDryRun ? 'Would stay' : 'Kept'}, because other users are members: ${remaining.join(', ')}`]),
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
