// Finds the regular expressions of the product: literals, calls of `RegExp`, and `pattern` of schemas.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'

const ROOT = join(import.meta.dirname, '../..')
const PRODUCT = ['{src,demo}/**/*.{ts,js}', 'packages/client/src/**/*.ts', 'packages/client/*.mjs', 'bin/*.mjs']
/** The descriptions contain the patterns that functions pass to schemas. */
const DESCRIPTIONS = 'docs/generated/openapi*.json'

/** `source` is undefined if the expression depends on values that only the running program has. */
export type Found = { readonly where: string; readonly code: string; readonly source?: string; readonly flags: string }

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>
type Module = { readonly text: string; readonly nodes: readonly Node[] }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
const nodesOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : [])
const nameOf = (value: unknown): unknown => (isNode(value) ? (value['name'] ?? value['value']) : undefined)

export function findExpressions(): Found[] {
  const files = globSync(PRODUCT, { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
  const described = globSync(DESCRIPTIONS, { cwd: ROOT }).flatMap((file) => patternsOfDescription(file))
  return [...files.sort().flatMap((file) => expressionsOf(file)), ...described]
}

function patternsOfDescription(file: string): Found[] {
  const patterns = new Set<string>()
  JSON.parse(readFileSync(join(ROOT, file), 'utf8'), (key, value) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  return [...patterns].map((source) => ({ where: file, code: source, source, flags: '' }))
}

function expressionsOf(file: string): Found[] {
  const path = join(ROOT, file)
  const { text, nodes } = moduleOf(path)
  return nodes.flatMap((node) => {
    const found = expressionIn(node, path)
    if (found === undefined) return []
    const line = text.slice(0, node.start).split('\n').length
    return [{ where: `${relative(ROOT, path)}:${line}`, code: text.slice(node.start, node.end), ...found }]
  })
}

function expressionIn(node: Node, path: string): Pick<Found, 'source' | 'flags'> | undefined {
  const literal = node['regex'] as { pattern: string; flags: string } | undefined
  if (node.type === 'Literal' && literal) return { source: literal.pattern, flags: literal.flags }
  if (isCallOf(node, 'RegExp')) {
    const [first, second] = nodesOf(node['arguments'])
    return withSource(first, path, second === undefined ? '' : (textOf(second, path) ?? ''))
  }
  const { value } = node
  if (node.type !== 'Property' || nameOf(node['key']) !== 'pattern' || !isNode(value)) return undefined
  if (isCallOf(value, 'RegExp') || 'regex' in value || node['shorthand'] === true) return undefined
  return withSource(value, path, '')
}

function withSource(node: Node | undefined, path: string, flags: string): Pick<Found, 'source' | 'flags'> {
  const source = node === undefined ? undefined : textOf(node, path)
  return { ...(source === undefined ? {} : { source }), flags }
}

const isCallOf = (node: Node, name: string): boolean =>
  (node.type === 'NewExpression' || node.type === 'CallExpression') && nameOf(node['callee']) === name

/** Returns the text of an expression that consists of literals and constants; undefined for others. */
function textOf(node: Node, path: string): string | undefined {
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' || typeof node['value'] === 'number' ? String(node['value']) : undefined
    case 'TemplateLiteral':
      return joined(node, path, 'cooked')
    case 'TaggedTemplateExpression':
      return isNode(node['quasi']) ? joined(node['quasi'], path, 'raw') : undefined
    case 'MemberExpression':
      return nameOf(node['property']) === 'source' && isNode(node['object']) ? sourceOf(node['object']) : undefined
    case 'Identifier':
      return constant(String(node['name']), path)
    default:
      return undefined
  }
}

function sourceOf({ regex }: Node): string | undefined {
  return (regex as { pattern: string } | undefined)?.pattern
}

function joined(template: Node, path: string, form: 'cooked' | 'raw'): string | undefined {
  const values = nodesOf(template['expressions']).map((each) => textOf(each, path))
  if (values.includes(undefined)) return undefined
  const fixed = nodesOf(template['quasis']).map(({ value }) => (value as Record<typeof form, string>)[form])
  return fixed.map((text, index) => text + (values[index] ?? '')).join('')
}

/** Returns the text of a constant of a module, which can import it. */
function constant(name: string, path: string): string | undefined {
  const { nodes } = moduleOf(path)
  const own = nodes.find((node) => node.type === 'VariableDeclarator' && nameOf(node['id']) === name)
  if (own !== undefined) return isNode(own['init']) ? textOf(own['init'], path) : undefined
  for (const node of nodes) {
    const specifier = nodesOf(node['specifiers']).find(({ local }) => nameOf(local) === name)
    if (node.type !== 'ImportDeclaration' || specifier === undefined) continue
    const from = pathOf(String(nameOf(node['source'])), path)
    return from === undefined ? undefined : constant(String(nameOf(specifier['imported'])), from)
  }
  return undefined
}

function pathOf(specifier: string, path: string): string | undefined {
  if (specifier.startsWith('.')) return resolve(dirname(path), specifier)
  if (specifier.startsWith('#demo/')) return join(ROOT, specifier.slice(1))
  return specifier.startsWith('#') ? join(ROOT, 'src', specifier.slice(1)) : undefined
}

const modules = new Map<string, Module>()

function moduleOf(path: string): Module {
  const known = modules.get(path)
  if (known !== undefined) return known
  const text = readFileSync(path, 'utf8')
  const nodes: Node[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (isNode(value)) nodes.push(value)
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(parseSync(path, text).program)
  const module = { text, nodes }
  modules.set(path, module)
  return module
}
