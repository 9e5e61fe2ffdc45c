// Sentences about rows, files and counters that do not agree.
import type { Finding } from '#features/operation/backup/verify-instance.ts'

export function describeFinding(finding: Finding): string {
  switch (finding.what) {
    case 'missing-file':
      return `${finding.key}: missing in the file store`
    case 'changed-file':
      return `${finding.key}: ${finding.detail}`
    case 'unused-file':
      return `${finding.key}: not used by any row (${finding.sizeBytes} bytes)`
    case 'wrong-counter':
      return `downloads of ${finding.of} ${finding.id}: ${Math.abs(finding.difference)} too ${finding.difference > 0 ? 'many' : 'few'}`
  }
}
