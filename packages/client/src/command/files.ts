// The files of a version: paths, patterns and exclusions.
import { openAsBlob, readdirSync, statSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
import { UsageError } from './settings.ts'

/** Returns the paths that match, sorted within each pattern, each once. @throws UsageError if a pattern matches no file. */
export function findFiles(patterns: readonly string[], cwd: string): string[] {
  const excluded = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => toExpression(pattern.slice(1)))
  const found = patterns
    .filter((pattern) => !pattern.startsWith('!'))
    .flatMap((pattern) => {
      const matches = listMatches(pattern, cwd).filter((path) => !excluded.some((expression) => expression.test(path)))
      if (matches.length === 0) throw new UsageError(`No file matches ${pattern}`)
      return matches
    })
  if (found.length === 0) throw new UsageError('Name at least one file with --files')
  const paths = [...new Set(found)]
  const names = paths.map((path) => basename(path))
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate !== undefined) throw new UsageError(`Two files have the name ${duplicate}`)
  return paths.map((path) => resolve(cwd, path))
}

function listMatches(pattern: string, cwd: string): string[] {
  if (isFile(resolve(cwd, pattern))) return [normalise(pattern)]
  if (!/[*?]/.test(pattern)) return []
  const fixed = pattern.split('/').slice(
    0,
    pattern.split('/').findIndex((part) => /[*?]/.test(part)),
  )
  const start = resolve(cwd, fixed.join('/') || (pattern.startsWith('/') ? '/' : '.'))
  const expression = toExpression(pattern)
  const base = pattern.startsWith('/') ? '/' : cwd
  return listAll(start, pattern.includes('**') ? 32 : pattern.split('/').length - fixed.length)
    .map((path) => (base === '/' ? path : relative(cwd, path)).split(sep).join('/'))
    .filter((path) => expression.test(path))
    .sort()
}

function listAll(folder: string, depth: number): string[] {
  let entries: import('node:fs').Dirent[]
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return depth > 1 && entry.name !== 'node_modules' ? listAll(path, depth - 1) : []
    return isFile(path) ? [path] : []
  })
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

const normalise = (path: string): string => path.replace(/^(\.\/)+/, '')

/** `*` and `?` stay within a folder, `**` does not. */
function toExpression(pattern: string): RegExp {
  const text = normalise(pattern)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*\*|\*|\?/g, (wildcard) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' })[wildcard] ?? '[^/]')
  return new RegExp(`^${text}$`)
}

/** Opens a file without reading it into memory. */
export async function openFile(path: string): Promise<File> {
  return new File([await openAsBlob(path)], basename(path), { lastModified: statSync(path).mtimeMs })
}
