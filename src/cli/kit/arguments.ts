// Reads the arguments of commands strictly: an unknown option is an error.

import { parseArgs } from 'node:util'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'

/** Error in the arguments. The usage of the command follows its message. */
export class UsageError extends Error {
  override name = 'UsageError'
}

type Options = Readonly<Record<string, 'string' | 'boolean'>>
type Values<O extends Options> = { [Key in keyof O]?: O[Key] extends 'boolean' ? boolean : string }

/** Number of arguments that are not options. */
type WordCount = { min: number; max: number }

/** Reads `--name value` options, and other arguments before or after them. @throws UsageError */
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

function checkWords(words: readonly string[], { min, max }: WordCount): void {
  const extra = words[max]
  if (extra !== undefined) throw new UsageError(`Unexpected argument: ${extra}`)
  if (words.length < min) throw new UsageError(`Missing arguments: expected at least ${min}, got ${words.length}`)
}

/** Returns the value of a required option. @throws UsageError */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

/** @throws UsageError */
export function wholeNumber(value: string, name: string, min: number, max: number): number {
  const number = Number(value)
  if (!/^\d{1,15}$/.test(value) || number < min || number > max)
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
  return number
}

/** Converts `90d`, `12h` or `30m` to milliseconds. @throws UsageError */
export function duration(value: string, name: string): number {
  const match = /^(\d{1,6})([dhm])$/.exec(value)
  const unit = { d: DAY_MS, h: HOUR_MS, m: 60_000 }[match?.[2] ?? '']
  if (match === null || unit === undefined)
    throw new UsageError(`--${name} must be a number followed by d, h or m, such as 90d`)
  return Number(match[1]) * unit
}
