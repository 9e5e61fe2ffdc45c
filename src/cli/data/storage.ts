// `depot storage`: the storage by kind and project, and its growth.
import { readArguments } from '#cli/kit/arguments.ts'
import { shownBytes } from '#cli/kit/progress.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { loadStorage } from '#features/operation/overview/storage/load-storage.ts'
import { recordMeasure } from '#features/operation/overview/storage/measure-storage.ts'
import type { StorageView } from '#features/operation/overview/storage/views.ts'

const PROJECTS_SHOWN = 10
const KINDS: Readonly<Record<StorageView['kinds'][number]['kind'], string>> = {
  version_files: 'Files of versions',
  images: 'Images',
  orphaned_files: 'Files that belong to nothing',
  events: 'Analytics events',
  database: 'Database',
}

export async function storageCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { measure: 'boolean', json: 'boolean' })
  await withDeps(env, async (deps) => {
    const stored = await loadStorage(deps)
    const isNeeded = values.measure === true || stored.measured === null
    if (isNeeded) await recordMeasure(deps, new AbortController().signal)
    const view = isNeeded ? await loadStorage(deps) : stored
    print({ json: view, text: describe(view) }, values.json)
  })
}

function describe({ measured, kinds, projects, growth, disk }: StorageView): string {
  const size = (bytes: number | null): string => (bytes === null ? 'in a service' : shownBytes(bytes))
  const kindRows = kinds.map(({ kind, bytes, files }) => [
    KINDS[kind],
    size(bytes),
    files === null ? '-' : String(files),
  ])
  const projectRows = projects
    .slice(0, PROJECTS_SHOWN)
    .map(({ slug, bytes, files }) => [slug, shownBytes(bytes), String(files)])
  const { bytes_per_day: perDay, days_left: days } = growth
  const rate =
    perDay === null
      ? 'unknown before the second day'
      : `${perDay < 0 ? '-' : ''}${shownBytes(Math.abs(perDay))} per day`
  return [
    `Measured ${measured ?? 'never'}`,
    table(['KIND', 'SIZE', 'FILES'], kindRows),
    '',
    table(['PROJECT', 'SIZE', 'FILES'], projectRows),
    '',
    `Growth: ${rate}${days === null ? '' : `; the disk is full in ${days} days`}`,
    `Disk: ${shownBytes(disk.free_bytes)} of ${shownBytes(disk.total_bytes)} are free`,
  ].join('\n')
}
