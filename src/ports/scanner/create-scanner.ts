import type { ScannerConfig } from '#platform/config/config.ts'
import { createCommandScanner } from './command/command-scanner.ts'
import type { Scanner } from './scanner.ts'
import { createWebScanner } from './web/web-scanner.ts'

/** Creates the configured scanner; undefined if files are not scanned. */
export function createScanner(config: ScannerConfig): Scanner | undefined {
  if (config.kind === 'command') return createCommandScanner(config)
  return config.kind === 'url' ? createWebScanner(config) : undefined
}
