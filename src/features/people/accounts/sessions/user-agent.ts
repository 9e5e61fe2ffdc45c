// Describes a User-Agent for the list of sessions. A rough description is sufficient.

/** Longer values are stored by their start. */
export const USER_AGENT_LENGTH_MAX = 512
const NAME_LENGTH_MAX = 64

// The first match counts, because programs also name the programs that they are compatible with.
const SYSTEMS: readonly [RegExp, string][] = [
  [/android/i, 'Android'],
  [/iphone|ipad|ipod/i, 'iOS'],
  [/windows/i, 'Windows'],
  [/mac ?os|macintosh|darwin/i, 'macOS'],
  [/\bcros\b/i, 'ChromeOS'],
  [/linux|x11/i, 'Linux'],
]

const BROWSERS: readonly [RegExp, string][] = [
  [/\bedg(?:e|a|ios)?\//i, 'Edge'],
  [/\b(?:opr|opera)\//i, 'Opera'],
  [/\b(?:firefox|fxios)\//i, 'Firefox'],
  [/\b(?:chrome|chromium|crios)\//i, 'Chrome'],
  [/\bversion\/[^\s/]+ (?:mobile\/[^\s/]+ )?safari\//i, 'Safari'],
]

/** Returns the operating system, and the browser or else the name of the program; null if not recognized. */
export function describeUserAgent(userAgent: string): { os: string | null; platform: string | null } {
  const nameOf = (table: readonly [RegExp, string][]) => table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null
  const program = /^([^\s/()]+)(?:\/|$)/.exec(userAgent)?.[1]
  return { os: nameOf(SYSTEMS), platform: nameOf(BROWSERS) ?? program?.slice(0, NAME_LENGTH_MAX) ?? null }
}

const KINDS = [
  [/ipad|tablet|android(?!.*mobile)/i, 'tablet'],
  [/mobi|iphone|ipod|android/i, 'phone'],
  [/windows|macintosh|mac ?os|\bcros\b|linux|x11/i, 'computer'],
] as const

/** Returns the kind of the device, or undefined if the User-Agent does not reveal it. */
export function deviceKind(userAgent: string): 'phone' | 'tablet' | 'computer' | undefined {
  return KINDS.find(([pattern]) => pattern.test(userAgent))?.[1]
}
