// Conventions of the code: the same structure in every feature, standard terms, and no references that a reader cannot
// follow. CONTRIBUTING.md explains the reasons.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { ERRORS } from '#lib/errors.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const FEATURES = globSync('src/{features,web}/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
/** Pages are forms for people: their handlers call commands like routes do, but have no JSON requests. */
const isPage = (file: string): boolean => /^src\/web\//.test(file)
/** A file that translates requests of another API version; the request schemas are next to the translation. */
const isTranslation = (file: string): boolean => file.startsWith('src/features/compat/v2/')
const isRoutes = (file: string): boolean => /(^|\/)([a-z0-9-]+-)?routes\.ts$/.test(file)
const isPolicy = (file: string): boolean =>
  /(^|\/)([a-z0-9-]+-)?policy\.ts$|^src\/features\/basics\/(authentication\/|access\/viewer\.ts)/.test(file)

/** Lines of `files` that match, as `file:line text`. */
function find(files: readonly string[], pattern: RegExp, except: (line: string) => boolean = () => false): string[] {
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) && !except(line) ? [`${file}:${index + 1} ${line.trim().slice(0, 160)}`] : [],
      ),
  )
}

test('routes are declared in files that are called routes', () => {
  const others = FEATURES.filter((file) => !isRoutes(file) && !isPage(file))
  assert.deepEqual(find(others, /\b(app|scope)\.(get|post|patch|put|delete)\(/), [])
})

test('routes neither open transactions nor record events', () => {
  assert.deepEqual(find(FEATURES.filter(isRoutes), /#platform\/(cache\/transaction|telemetry\/events)\.ts/), [])
})

test('routes hold no schema of a request', () => {
  const own = FEATURES.filter((file) => isRoutes(file) && !isTranslation(file))
  assert.deepEqual(find(own, /\bType\.Object\(/), [])
})

test('only policies decide permissions', () => {
  const others = FEATURES.filter((file) => !isPolicy(file) && !isPage(file))
  assert.deepEqual(find(others, /\b(isAdmin|isModerator|forbidden)\(|new ApiError\('forbidden'/), [])
})

/** The exported functions of a file with their whole text. */
function functionsOf(file: string): { name: string; text: string }[] {
  return [...read(file).matchAll(/^export (?:async )?function (\w+)[\s\S]*?^\}/gm)].map(([text, name = '']) => ({
    name,
    text,
  }))
}

test('query verbs are contracts: find gives undefined, get throws, list gives many, lock wants a transaction', () => {
  const readers = FEATURES.filter((file) => /(^|\/)([a-z0-9-]+-)?(queries|cache)\.ts$/.test(file))
  const odd = readers.flatMap((file) =>
    functionsOf(file)
      .filter(({ name, text }) => {
        const answer = /\)\s*:\s*([\s\S]*?) \{\n {2}(?=\S)(?!\w+\??: )/.exec(text)?.[1] ?? ''
        if (/^find[A-Z]/.test(name)) return !/undefined/.test(answer)
        if (/^get[A-Z]/.test(name)) return /undefined|\[\]/.test(answer)
        if (/^list[A-Z]/.test(name)) return !/\[\]|Map<|Set<|Record</.test(answer)
        if (/^lock[A-Z]/.test(name)) return !/\btx: Tx|\{ tx\b/.test(text)
        return false
      })
      .map(({ name }) => `${file} ${name}`),
  )
  assert.deepEqual(odd, [])
})

/** Files with several commands, or with a transaction that is not a separate command, and the reason for each. */
const SEVERAL_COMMANDS: Readonly<Record<string, string>> = {
  'src/features/people/accounts/two-factor/switch-two-factor.ts': 'one subject in three steps: start, confirm, end',
  'src/features/people/accounts/sign-in/sign-in-guard.ts': 'records refused sign-ins for every way to sign in',
  'src/features/basics/images/icons.ts': 'the icon of any feature that has one',
  'src/features/reading/downloads/counter-ledger.ts': 'bookkeeping between the store of events and the database',
}

test('a command bears the name of its file', () => {
  const odd = FEATURES.filter((file) => !isPage(file) && !(file in SEVERAL_COMMANDS) && !file.endsWith('/jobs.ts'))
    .filter((file) => /\brecordEvent\(|\btransaction\(/.test(read(file)))
    .filter((file) => {
      const name = basename(file, '.ts').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
      return !new RegExp(`export (async )?function ${name}\\b`).test(read(file))
    })
  assert.deepEqual(odd, [])
})

const TEXTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...globSync('{docs,migrations,taxonomy}/**/*.{md,sql}', { cwd: ROOT }),
]
const CODE = globSync('{src,demo,test,bench,scripts}/**/*.{ts,mjs}', { cwd: ROOT }).filter(
  (file) => file !== 'test/rules/conventions.test.ts' && file !== 'scripts/wording.ts',
)

test('people are "they"', () => {
  const pattern = /(?<![\w'’.-])(he|his|him|himself)(?![\w'’-])/i
  assert.deepEqual(find([...TEXTS, ...CODE, 'docs/generated/openapi.json'], pattern), [])
})

test('nothing cites a document that is not in the repository', () => {
  const pattern = /\b(decisions|design|style|spec|house)\.md \d|\bfacts\/[a-z0-9]+\.md|\bshared\//
  assert.deepEqual(find([...TEXTS, ...CODE, 'docs/generated/openapi.json'], pattern), [])
})

test('every error that is not reserved is thrown somewhere', () => {
  const source = globSync('{src,demo}/**/*.ts', { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts') && file !== 'src/lib/errors.ts')
    .map(read)
    .join('\n')
  const used = `${source}\n${read('src/lib/errors.ts').split('} as const')[1]}`
  const unused = Object.entries(ERRORS)
    .filter(([kind, entry]) => !('reserved' in entry) && !used.includes(`'${kind}'`))
    .map(([kind]) => kind)
  assert.deepEqual(unused, [])
})

test('the help of a command names the options that its function reads', async () => {
  const { COMMANDS } = await import('#cli/commands.ts')
  const table = ['commands.ts', 'data/data-commands.ts', 'data/exchange-commands.ts']
    .map((file) => read(`src/cli/${file}`))
    .join('')
  const problems = COMMANDS.flatMap(({ name, usage = '', options = [] }) => {
    const module = new RegExp(`name: '${name}'[\\s\\S]*?import\\('#([^']+)'`).exec(table)?.[1]
    const source = module === undefined ? '' : read(`src/${module}`)
    const inUsage = [...usage.matchAll(/--([a-z-]+)/g)].map(([, option = '']) => option)
    const explained = options.map(([option]) => option).filter((option) => option.startsWith('--'))
    const unread = inUsage.filter((option) => !new RegExp(`['"]?${option}['"]?: '(string|boolean)'`).test(source))
    const unlisted = explained.filter((option) => !inUsage.includes(option.slice(2)))
    return [
      ...unread.map((option) => `${name}: src/${module} does not read --${option}`),
      ...unlisted.map((option) => `${name}: the usage does not name ${option}`),
    ]
  })
  assert.deepEqual(problems, [])
})

/** Commands that name a deletion that is not one of data, with the reason. */
const NO_DRY_RUN: Readonly<Record<string, string>> = {
  'backup verify': 'deletes only the scratch folder that it has created',
}

test('a command that deletes has --dry-run, and a command that prints a result has --json', async () => {
  const { COMMANDS } = await import('#cli/commands.ts')
  const has = (command: (typeof COMMANDS)[number], name: string) =>
    command.options?.some(([option]) => option === name) === true
  const deleting = COMMANDS.filter(({ about, options = [] }) =>
    [about, ...options.map(([, meaning]) => meaning)].some((text) => /\b(delet|remov|revok)(e|es|ing)\b/i.test(text)),
  ).filter(({ name }) => !(name in NO_DRY_RUN))
  assert.ok(deleting.length > 5)
  assert.deepEqual(
    deleting.filter((command) => !has(command, '--dry-run')).map(({ name }) => name),
    [],
  )
  assert.deepEqual(
    COMMANDS.filter((command) => !has(command, '--json')).map(({ name }) => name),
    ['serve', 'completion', 'manual'],
  )
})
