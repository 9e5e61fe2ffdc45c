// Reads from the source which functions of the features an operation of the API calls, and which a page can call.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

type Source = { text: string; imports: ReadonlyMap<string, string>; functions: ReadonlyMap<string, string> }

const sources = new Map<string, Source>()

/** Returns the text of a file, its imported values with their files, and its functions with their texts. */
function read(file: string): Source {
  const known = sources.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, file), 'utf8')
  const imports = new Map<string, string>()
  for (const [, names = '', from = ''] of text.matchAll(/^import (?!type)\{([^}]*)\} from '([#.][^']+)'/gm)) {
    const path = from.startsWith('#') ? join('src', from.slice(1)) : relative(ROOT, join(ROOT, dirname(file), from))
    for (const name of names.split(',').map((each) => each.trim())) {
      if (name !== '' && !name.startsWith('type ')) imports.set(name.split(' as ').at(-1) ?? name, path)
    }
  }
  const functions = new Map<string, string>()
  for (const part of text.split(/^(?=(?:export )?(?:async )?(?:function|const) \w+)/m)) {
    const name = /^(?:export )?(?:async )?(?:function|const) (\w+)/.exec(part)?.[1]
    if (name !== undefined) functions.set(name, part)
  }
  const source = { text, imports, functions }
  sources.set(file, source)
  return source
}

const isFeature = (path: string): boolean => path.startsWith('src/features/')
const isReader = (name: string): boolean =>
  /^(?:get|find|list|load|parse|to|require|is|view|check|read|can)[A-Z]/.test(name)

/** Returns the functions that change something and that a part of a file names, through its own functions too. */
function commandsIn(file: string, part: string, seen = new Set<string>()): string[] {
  const { imports, functions } = read(file)
  const words = new Set(part.match(/\b[a-z]\w+(?=\b)/g) ?? [])
  return [...words].flatMap((word) => {
    if (seen.has(word)) return []
    seen.add(word)
    const path = imports.get(word)
    if (path !== undefined) return isFeature(path) && !isReader(word) ? [word, ...siblingsOf(word, path)] : []
    const own = functions.get(word)
    return own === undefined || own === part ? [] : commandsIn(file, own, seen)
  })
}

/** Returns the commands in the file of a command that it calls: the command for one item calls that for several. */
function siblingsOf(name: string, file: string): string[] {
  const { text, functions } = read(file)
  const words = new Set((functions.get(name) ?? '').match(/\b[a-z]\w+(?=\()/g) ?? [])
  return [...words].filter(
    (word) => word !== name && !isReader(word) && text.includes(`export async function ${word}(`),
  )
}

/** Returns the commands of each operation. In the source, an ID can be a template that several operations share. */
export function commandsOfOperations(ids: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync('src/features/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts') || file.includes('/v2/')) continue
    for (const part of read(file).functions.values()) {
      for (const piece of part.split(/(?=operationId: )/).slice(1)) {
        const [line = ''] = piece.split('\n')
        const names = [...line.matchAll(/['`]([^'`]+)['`]/g)].map(([, name = '']) => name.replace(/\$\{\w+\}/g, '\\w+'))
        const stated = new RegExp(`^(?:${names.join('|')})$`)
        for (const id of ids) if (stated.test(id)) found.set(id, [...(found.get(id) ?? []), ...commandsIn(file, piece)])
      }
    }
  }
  return found
}

/** Returns the functions of the features that a page can call: its file, files that show it, and all that these import. */
export function functionsOfPages(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const file of globSync('src/web/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts')) continue
    for (const [, operation = ''] of read(file).text.matchAll(
      /\b((?:show|site|own|publish|manage|moderate|moderation|operate)[A-Z]\w+)/g,
    )) {
      const names = found.get(operation) ?? new Set()
      for (const name of functionsReached(file)) names.add(name)
      found.set(operation, names)
    }
  }
  return found
}

function functionsReached(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  return [...read(file).imports].flatMap(([name, path]) => {
    if (isFeature(path)) return [name]
    return path.startsWith('src/web/') ? functionsReached(path, seen) : []
  })
}
