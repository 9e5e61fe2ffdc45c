// `depot clean`: deletes expired uploads and drafts, unused files and old audit entries.
import { readArguments } from '#cli/kit/arguments.ts'
import { shownBytes } from '#cli/kit/progress.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { cleanInstance } from '#features/operation/clean/clean-instance.ts'

export async function cleanCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { 'dry-run': 'boolean', json: 'boolean' })
  const isDryRun = values['dry-run'] === true
  const { signal } = new AbortController()
  const report = await withDeps(env, (deps) => cleanInstance(deps, { isDryRun, signal }))
  const rows = [
    ['Expired uploads', String(report.uploads)],
    ['Expired drafts', String(report.drafts)],
    ['Files of interrupted uploads', String(report.claims)],
    ['Files that belong to nothing', `${report.unused_files} (${shownBytes(report.unused_bytes)})`],
    ['Old entries of the audit log', String(report.audit_entries)],
    ['Cached images of other hosts', String(report.external_images)],
  ]
  const text = `${isDryRun ? 'Would be deleted' : 'Deleted'}:\n${table([], rows)}`
  print({ json: { dry_run: isDryRun, ...report }, text }, values.json)
}
