// Checks of environment variables that a pattern cannot express.
import { isIPv6 } from 'node:net'

const HOST_FORM = /^(?!-)[A-Za-z0-9.-]+$/

export function isHost(value: string): boolean {
  // The URL parser rejects `1.2.3.999` and addresses with a zone.
  return isIPv6(value) ? URL.canParse(`http://[${value}]`) : HOST_FORM.test(value) && URL.canParse(`http://${value}`)
}

export function isWebAddress(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && !/[?#]/.test(value)
}

/** Like `isWebAddress`, but permits user and password. */
export function isEngineAddress(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && ['http:', 'https:'].includes(url.protocol) && !/[?#]/.test(value)
}

/** A source of Content-Security-Policy; without the commas and semicolons that a host in a URL may have. */
const ORIGIN_FORM = /^https?:\/\/(?:\*\.)?[a-z0-9.-]{1,253}(?::\d{1,5})?$/

export function isScriptAddress(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && ORIGIN_FORM.test(url.origin) && !/[@#\s]/.test(value)
}

export function isOriginList(value: string): boolean {
  const origins = value.split(/ +/)
  return origins.length <= 10 && origins.every((origin) => ORIGIN_FORM.test(origin))
}

export function isDatabaseAddress(value: string): boolean {
  return ['postgres:', 'postgresql:'].includes(URL.parse(value)?.protocol ?? '')
}

/** The path must be the name of a database that needs no quoting. */
export function isClickHouseAddress(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return /^\/[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(url.pathname) && !/[?#]/.test(value)
}

export function isRedisAddress(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') return false
  return /^(\/\d{0,5})?$/.test(url.pathname) && !/[?#]/.test(value)
}

export function isMailServerAddress(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
}

export function isMailbox(value: string): boolean {
  return (
    /^(?:[^\p{Cc}<>@]{1,128}<)?[^\s\p{Cc}<>@]{1,64}@[^\s\p{Cc}<>@]{1,253}>?$/u.test(value) &&
    /</.test(value) === />/.test(value)
  )
}

/**
 * Parses BLOCKED_USER_AGENTS. Returns undefined if an expression is invalid, too long or matches the empty string and thus
 * every User-Agent, or if there are more than 100.
 */
export function parsePatterns(value: string): RegExp[] | undefined {
  // A comma separates unless the next brace after it closes a quantifier such as {1,3}.
  const sources = value.split(/[\r\n]+|,(?![^{}]*\})/).map((source) => source.trim())
  const used = sources.filter((source) => source !== '')
  if (used.length > 100 || used.some((source) => source.length > 500)) return undefined
  try {
    const patterns = used.map((source) => new RegExp(source, 'i'))
    return patterns.some((pattern) => pattern.test('')) ? undefined : patterns
  } catch {
    return undefined
  }
}

/** The bucket and the prefix of a target for backups in S3; undefined for a folder. */
export function parseBackupBucket(value: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, path = ''] = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])(?:\/(.*))?$/.exec(value) ?? []
  const prefix = path.replace(/\/$/, '')
  if (bucket === undefined || !/^$|^(?!.*\/\/)(?!\/)[A-Za-z0-9._/-]{1,200}$/.test(prefix)) return undefined
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

export const isBackupTarget = (value: string): boolean =>
  value.startsWith('/') ? !value.includes('\0') : parseBackupBucket(value) !== undefined

/** Maximum number of loaders in LOADER_METADATA. */
const LOADERS_MAX = 20

/** Returns the URLs by loader; undefined if the text is not a JSON object of loaders and URLs. */
export function parseLoaderMetadata(text: string): Record<string, string> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  const isValid = ([loader, url]: [string, unknown]): boolean =>
    /^[a-z0-9._-]{1,64}$/.test(loader) && typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url)
  return entries.length <= LOADERS_MAX && entries.every(isValid) ? Object.fromEntries(entries) : undefined
}
