// `depot doctor`: finds faults of the settings, the data folder, the database and the content, and corrects some of them.
import { statSync } from 'node:fs'
import { readArguments } from '#cli/kit/arguments.ts'
import { explain } from '#cli/kit/explain.ts'
import { createProgress } from '#cli/kit/progress.ts'
import { type Env, print, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { isServed } from '#features/operation/backup/rows.ts'
import { checkDamage } from '#features/operation/doctor/check-damage.ts'
import { checkFiles } from '#features/operation/doctor/check-files.ts'
import { checkInstance } from '#features/operation/doctor/check-instance.ts'
import { error, type Finding } from '#features/operation/doctor/finding.ts'
import { diskSpace } from '#features/operation/overview/storage/disk.ts'
import { reasonOf } from '#lib/errors.ts'
import { inOneLine } from '#lib/text/linear-text.ts'
import { requireInstance } from '#main/require-instance.ts'
import type { Config } from '#platform/config/config.ts'
import type { SettingsFile } from '#platform/config/settings-file.ts'
import type { Deps } from '#ports/deps.ts'
import { checkFolder } from './check-folder.ts'
import { checkProviders } from './check-providers.ts'
import { checkSchema } from './check-schema.ts'
import { checkSettings } from './check-settings.ts'

type Options = { isFull: boolean; mayFix: boolean }

type Result = Omit<Finding, 'fix'> & {
  /** Whether `--fix` corrects the fault, and whether this run has. */
  fixable: boolean
  fixed: boolean
}

type Report = { results: Result[]; files: number; skipped: string[] }

/** Prints one line per finding. Exits with 1 if an error remains. */
export async function doctor(args: readonly string[], env: Env, file?: SettingsFile): Promise<void> {
  const { values } = readArguments(args, { fix: 'boolean', full: 'boolean', json: 'boolean' })
  const report = await examine(env, file, { isFull: values.full === true, mayFix: values.fix === true })
  const { results, files, skipped } = report
  const isLeft = (severity: Finding['severity']) =>
    results.filter((one) => one.severity === severity && !one.fixed).length
  const [errors, warnings] = [isLeft('error'), isLeft('warning')]
  const lines = [
    ...results.map(({ severity, message, fixed }) => `${fixed ? 'corrected' : severity}: ${message}`),
    ...skipped.map((what) => `not checked: ${what}`),
    `Checked ${files} files; errors: ${errors}, warnings: ${warnings}`,
  ]
  const json = { status: errors > 0 ? 'failing' : 'ok', files, findings: results, skipped }
  print({ json, text: lines.join('\n') }, values.json)
  if (errors > 0) process.exitCode = 1
}

async function examine(env: Env, file: SettingsFile | undefined, options: Options): Promise<Report> {
  const report: Report = { results: [], files: 0, skipped: [] }
  const note = async (findings: readonly Finding[]): Promise<void> => {
    for (const finding of findings) report.results.push(await treat(finding, options))
  }
  const { config, findings } = checkSettings(env, file)
  await note(findings)
  if (config === undefined) return report
  await note(await checkProviders(config))
  try {
    // Opening the folder corrects its own mode.
    const exists = statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory() === true
    if (exists) await note(checkFolder(config, await diskSpace(config.dataDir)))
    await requireInstance(config)
    await withUnmigratedDeps(env, (deps) => examineInstance(deps, { note, report, options }))
  } catch (cause) {
    await note([error('instance_unusable', inOneLine(explain(cause)))])
  }
  return report
}

type Examination = { note(findings: readonly Finding[]): Promise<void>; report: Report; options: Options }

async function examineInstance(deps: Deps, { note, report, options }: Examination): Promise<void> {
  const schema = await checkSchema(deps)
  await note(schema.findings)
  const isCurrent = schema.isCurrent || (options.mayFix && report.results.at(-1)?.fixed === true)
  if (!isCurrent) return void report.skipped.push('the content, because the schema is not current')
  await deps.tags.refresh()
  await note(await checkDamage(deps, options.isFull))
  await note(await checkInstance(deps))
  const progress = createProgress({ label: 'Files' })
  const checked = await checkFiles(deps, {
    isFull: options.isFull,
    canReadEvents: await ownsEvents(deps),
    onProgress: progress.update,
  }).finally(progress.end)
  await note(checked.findings)
  report.files = checked.files
  report.skipped.push(...checked.skipped)
}

/** Only one process can open the embedded store. */
async function ownsEvents({ config, pool }: { config: Config } & Pick<Deps, 'pool'>): Promise<boolean> {
  return config.analytics.store.kind !== 'embedded' || !(await isServed(pool))
}

async function treat({ fix, ...finding }: Finding, { mayFix }: Options): Promise<Result> {
  const result = { ...finding, fixable: fix !== undefined, fixed: false }
  if (fix === undefined || !mayFix) return result
  try {
    await fix()
    return { ...result, fixed: true }
  } catch (cause) {
    return { ...result, message: `${finding.message} The correction failed: ${reasonOf(cause)}` }
  }
}
