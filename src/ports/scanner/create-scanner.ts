import type { ScannerConfig } from '#platform/config/config.ts'
import { createCommandScanner } from './command/command-scanner.ts'
import type { Scanner } from './scanner.ts'
import { createWebScanner } from './web/web-scanner.ts'

/** The scanner that the operator has chosen; undefined when files are not judged. */
export function createScanner(config: ScannerConfig): Scanner | undefined {
  if (config.kind === 'command') return createCommandScanner(config)
  return config.kind === 'url' ? createWebScanner(config) : undefined
}
