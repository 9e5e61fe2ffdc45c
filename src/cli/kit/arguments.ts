// Arguments of commands, checked strictly: an unknown option is a mistake, not something to ignore.

import { parseArgs } from 'node:util'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'

/** The command was called in a way it cannot be; its message is followed by the usage. */
export class UsageError extends Error {
  override name = 'UsageError'
}

type Options = Readonly<Record<string, 'string' | 'boolean'>>
type Values<O extends Options> = { [Key in keyof O]?: O[Key] extends 'boolean' ? boolean : string }

/** How many words a command takes besides its options. */
export type WordCount = { min: number; max: number }

/** Reads `--name value` options, and words before or after them. @throws UsageError */
export function readArguments<O extends Options>(
  args: readonly string[],
  options: O,
  words: number | WordCount = 0,
): { values: Values<O>; words: string[] } {
  try {
    const parsed = parseArgs({
      args: [...args],
      options: Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])),
      allowPositionals: true,
      strict: true,
    })
    checkWords(parsed.positionals, typeof words === 'number' ? { min: words, max: words } : words)
    return { values: parsed.values as Values<O>, words: parsed.positionals }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function checkWords(given: readonly string[], { min, max }: WordCount): void {
  const extra = given[max]
  if (extra !== undefined) throw new UsageError(`There is one word too many: ${extra}`)
  if (given.length < min)
    throw new UsageError(`${min - given.length} more ${min - given.length === 1 ? 'word is' : 'words are'} needed`)
}

/** The value of an option that must be given. @throws UsageError */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

/** A whole number of at least `min`. @throws UsageError */
export function wholeNumber(value: string, name: string, min: number, max: number): number {
  const number = Number(value)
  if (!/^\d{1,15}$/.test(value) || number < min || number > max) {
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
  }
  return number
}

/** `90d`, `12h` or `30m` in milliseconds. @throws UsageError */
export function duration(value: string, name: string): number {
  const match = /^(\d{1,6})([dhm])$/.exec(value)
  const unit = { d: DAY_MS, h: HOUR_MS, m: 60_000 }[match?.[2] ?? '']
  if (match === null || unit === undefined)
    throw new UsageError(`--${name} must be a number with d, h or m, such as 90d`)
  return Number(match[1]) * unit
}
