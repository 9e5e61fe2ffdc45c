// `depot verify`, which `depot doctor --full` replaces: lists inconsistencies, and exits with 1 if there are any.
import { readArguments } from '#cli/kit/arguments.ts'
import { createProgress } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { isServed } from '#features/operation/backup/rows.ts'
import { verifyInstance } from '#features/operation/backup/verify-instance.ts'
import { describeFinding } from './describe-finding.ts'

export async function verifyCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { quick: 'boolean', json: 'boolean' })
  await withDeps(env, async (deps) => {
    const progress = createProgress({ label: 'Files' })
    const isEmbedded = deps.config.analytics.store.kind === 'embedded'
    const report = await verifyInstance(deps, {
      quick: values.quick === true,
      canReadEvents: !(isEmbedded && (await isServed(deps.pool))),
      onProgress: progress.update,
    }).finally(progress.end)
    const { files, findings, listed, skipped } = report
    const lines = [
      ...listed.map(describeFinding),
      ...(findings > listed.length ? [`and ${findings - listed.length} more`] : []),
      ...skipped.map((what) => `Not checked: ${what}`),
      `Checked ${files} files; problems: ${findings}`,
    ]
    print({ json: report, text: lines.join('\n') }, values.json)
    if (findings > 0) process.exitCode = 1
  })
}
