// Test support: the file rules as they are shipped.
import { readFileSync } from 'node:fs'
import { type FileRules, parseFileRules } from '#taxonomy/file-rules.ts'

export function readTestRules(): FileRules {
  return parseFileRules(readTestRuleData())
}

/** The parsed data file, to be changed by a test. */
export function readTestRuleData(): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL('../../../taxonomy/file-rules.json', import.meta.url), 'utf8'))
}
