// Opens the file store that the operator has chosen. Loads the S3 library only if it is used.
import type { FilesConfig } from '#platform/config/config.ts'
import type { Telemetry } from '#platform/telemetry/events.ts'
import { engineCalls } from '#platform/telemetry/metrics.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import type { Files } from '#ports/files/files.ts'

export async function openFiles(config: FilesConfig, { log, metrics }: Telemetry): Promise<Files> {
  if (config.kind === 'folder') return openDiskFiles(config)
  const { openS3Files } = await import('#ports/files/s3/s3-files.ts')
  const { staging, links, ...location } = config
  return openS3Files({
    location,
    staging,
    links,
    onCall: engineCalls(metrics, 's3'),
    onUnreachable: (error) =>
      log.error(
        { err: error },
        'The file store does not respond; files cannot be read or stored until it does. Check S3_ENDPOINT',
      ),
  })
}
